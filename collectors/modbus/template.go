package modbus

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed templates/*.yaml
var templates embed.FS

// Templates are the names of the register maps that gauger brings along, in alphabetical order.
func Templates() []string {
	files, err := templates.ReadDir("templates")
	if err != nil {
		panic("modbus: templates: " + err.Error()) // they are part of the program
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Template is the text of a register map: keys of a device in YAML. Its first line says in a comment what it is for,
// the lines below what it rests on and what is to be checked on site. False: there is none of that name.
func Template(name string) ([]byte, bool) {
	text, err := templates.ReadFile(path.Join("templates", name+".yaml"))
	return text, err == nil
}
