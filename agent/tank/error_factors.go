package tank

// Made by the command below; not to be changed by hand. From 2528 loads of the simulated sites' tuning kinds
// (collectors/sim/sites), without 99 that are off by more than 5 times their error or ask for review
// for another reason than it.
//
//	go run ./deploy/bench/sites -calibrate -seed 811,812,813 -n 16 > agent/tank/error_factors.go

// errorFactors are what a load's error is multiplied by, a class (kind of sensor, or equaliser) each, so that it holds
// for 95.5 % of each; none is below 1, and those of few loads are drawn towards it.
var errorFactors = map[string]float64{
	"analog":               1.17, // 153 loads
	"analog in steps":      1.06, // 18 loads
	"equaliser":            1.33, // 190 loads
	"float":                1.05, // 374 loads
	"float in steps":       1.13, // 107 loads
	"hydrostatic":          1.00, // 484 loads
	"hydrostatic in steps": 1.00, // 17 loads
	"radar":                1.21, // 958 loads
	"radar in steps":       1.03, // 9 loads
	"ultrasonic":           1.00, // 210 loads
	"ultrasonic in steps":  1.03, // 8 loads
}
