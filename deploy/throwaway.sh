# throwaway.sh, to be sourced in a mount namespace of its own, with a folder in $work: a copy of this machine's files in $root
# (an overlay in memory) that vanishes with the namespace.
mkdir "$work/overlay"
mount -t tmpfs none "$work/overlay"
mkdir "$work/overlay/upper" "$work/overlay/work" "$work/overlay/root"
root=$work/overlay/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/overlay/upper,workdir=$work/overlay/work" "$root"
mount -t proc proc "$root/proc"
