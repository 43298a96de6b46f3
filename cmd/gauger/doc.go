// Command gauger measures an oil site's tanks and writes the run tickets: it reads levels from Modbus and MQTT
// devices, finds the loads, queues tickets, events and values in an outbox on disk, and sends them to the field
// production service.
//
// # Files
//
// A file is named by its command, or by the family of commands that share it: check.go and check_budget.go, tickets_list.go,
// outbox.go. commands.go is the tree of all commands. To add one, write its file (a constructor, its options, what it does)
// and its line in commands.go; help, completion and the manual's pages follow from the tree.
//
// Every command is given a call (command.go): streams, environment, and what the flags of all commands say. What most of them
// use stands in leaf files: command, exit, print, flags, time_flags and site. What a person asks of the running gauger
// goes through connection.go, what is asked of a Modbus line through modbus_lines.go. run.go and its family assemble the
// daemon and know no command.
//
// # Decisions
//
// One table of operations: the commands call them through the socket of the running gauger; without one they open the store
// and have the same table to themselves; one that only looks begins no store (connection.go). `read` without a daemon runs the
// same collectors with a host that prints.
//
// Preflight: before the outbox is opened gauger runs itself as `gauger outbox check FILE`. A damaged bbolt file can crash or
// hang its reader, and a child's crash is an answer.
//
// Until a store opens that is read-only, full or not its user's (decision 5 of ARCHITECTURE.md), the collectors leave nothing
// behind, READY is told, and it is tried again every five seconds (run_storeless.go). The sessions of its own stay
// unacknowledged, so that brokers keep what comes. An outbox that opens and takes no commit is shown for a minute; then the
// program ends with 75, as it does when another gauger holds the outbox.
//
// A changed configuration takes over within the process (run_change.go, run_apply.go): outbox, clock and the collectors of devices that
// stay as they are outlive it (lasting, in run_daemon.go), everything else is made anew, by the same road as at a start, and goes back
// the same way. What was at work is kept as the last good one; one that was applied from elsewhere stands in the place of the file until
// the file is changed.
//
// A configuration that is pulled goes the same way; its ETag is kept when it was judged, so that the same file is not judged
// again each hour.
//
// A bad configuration at boot starts the last good one, a copy in the store, and an event says so; `run --strict` ends with
// 78 instead (run_config.go).
//
// A ca_file, key or login that cannot be read holds back the sending alone (decision 5): an episode service-settings says
// which, it is looked for again every minute, on SIGHUP and with each request (run_service.go).
//
// Without a daemon root's command works in the store as the store's owner: it leaves nothing there that the daemon cannot read,
// and is led nowhere by what that user has laid there (connection.go). What it was given elsewhere it reads and writes as root.
//
// An end is bounded: after SIGTERM the workers have three seconds, then the process ends as it is, which costs no more than a
// kill (run.go).
//
// Flags are cobra's, with one thing kept from Go's own flag package, which scripts rely on: a long flag may have one dash
// (flags.go). The words of a mistake and the exit statuses are ours (flags.go, exit.go).
package main
