package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyStore copies what is in a store, but for its keys, into a new folder beside other short-lived files.
func CopyStore(ctx context.Context, store string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "gauger-bundle-"); err != nil {
		return "", fmt.Errorf("copy the store: %w", err)
	}
	root, err := os.OpenRoot(store)
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil
	}
	if err == nil {
		err = errors.Join(copyFiles(ctx, root, folder), root.Close())
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy the store %s to %s, so that it can be looked into while nobody answers: %w", store, folder, err), os.RemoveAll(folder))
	}
	return folder, nil
}

// copyFiles copies plain files; nothing in the store leads out of it.
func copyFiles(ctx context.Context, root *os.Root, to string) error {
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		name := filepath.Join(to, path)
		switch {
		case e.IsDir():
			return os.MkdirAll(name, 0o700)
		case !e.Type().IsRegular(), strings.HasPrefix(e.Name(), "keys"), strings.HasSuffix(e.Name(), ".lock"), strings.Contains(e.Name(), ".damaged"):
			return nil
		}
		from, err := root.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		into, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(into, from)
		return errors.Join(err, into.Close())
	})
}
