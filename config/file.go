package config

import "path/filepath"

// resolve is a file name of the configuration as seen from where gauger runs.
func resolve(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}
