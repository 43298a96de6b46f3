package host

import "time"

// Device is the box itself as a source of readings.
type Device struct {
	Name   string        `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	Host   string        `yaml:"host" doc:"the word self"`
	Every  time.Duration `yaml:"every" doc:"poll interval. Default 60s"`
	Points []Point       `yaml:"points" doc:"what to watch"`
}

// Point is one figure of the box.
type Point struct {
	Name  string    `yaml:"name" doc:"name of the point within its device"`
	Read  string    `yaml:"read" doc:"disk_free_percent disk_free_mib memory_available_mib cpu_temperature load_1m uptime_s clock_synchronized"`
	Path  string    `yaml:"path" doc:"for disk_free_*: a folder on the file system; default the store. For cpu_temperature: a thermal zone file"`
	Unit  string    `yaml:"unit" doc:"engineering unit; default follows the figure"`
	Range []float64 `yaml:"range" doc:"[low, high]: a value outside is Bad"`
}
