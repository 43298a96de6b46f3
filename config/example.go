package config

import _ "embed"

// Example is the shipped configuration: every key, with a word on each. It loads as it is.
//
//go:embed example.yaml
var Example []byte
