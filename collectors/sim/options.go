package sim

import (
	"io"
	"time"
)

// Device plays a recording of readings (columns ts,mono_s,boot,point,value,quality) as if it were a device.
type Device struct {
	Name   string        `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	File   string        `yaml:"recording" doc:"CSV file of readings: ts,mono_s,boot,point,value,quality, in arrival order"`
	From   io.Reader     `yaml:"-"` // the recording where it is no file; File then only names it
	Every  time.Duration `yaml:"every" doc:"the poll interval with which it was recorded. Default 10s"`
	Points []Point       `yaml:"points" doc:"the recorded points"`

	// Zone places times that do not say theirs; nil: UTC.
	Zone *time.Location `yaml:"-"`
}

// Point is one column of values in the recording.
type Point struct {
	Name string `yaml:"name" doc:"name of the point within its device"`
	Unit string `yaml:"unit" doc:"engineering unit of the recorded values"`
}
