package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

// Correction of crude oil volumes for temperature, API MPMS chapter 11.1 (2004), commodity A
// (crude oil), 60 degF base, with the constants K0 = 341.0957, K1 = K2 = 0.
const (
	waterDensity = 999.016  // kg/m3 at 60 degF
	crudeK0      = 341.0957 // commodity A
	baseShift    = 0.01374979547
	baseITS68    = 60.0068749 // 60 degF of ITS-90 on the scale IPTS-68
)

// its holds the coefficients a1..a8 of the conversion from ITS-90 to IPTS-68 (11.1.6.1).
var its = [8]float64{-0.148759, -0.267408, 1.080760, 1.269056, -4.089591, -1.871251, 7.438081, -3.536296}

// APIDensity is the density in kg/m3 of an API gravity.
func APIDensity(api float64) float64 { return 141.5 / (api + 131.5) * waterDensity }

// DensityAPI is the API gravity of a density in kg/m3.
func DensityAPI(rho float64) float64 { return 141.5*waterDensity/rho - 131.5 }

// SpecificGravity is the specific gravity 60/60 of an API gravity at 60 degF.
func SpecificGravity(api60 float64) float64 { return 141.5 / (131.5 + api60) }

// SpecificAPI is the API gravity of a specific gravity 60/60.
func SpecificAPI(sg float64) float64 { return 141.5/sg - 131.5 }

// CTL is the factor that turns a volume of crude at a temperature (degF, ITS-90) into the
// volume at 60 degF, rounded to 5 places, for an API gravity at 60 degF.
func CTL(api60, degF float64) float64 { return stats.Round(ctl(APIDensity(api60), degF), 5) }

func ctl(rho60, degF float64) float64 {
	a := crudeK0 / stats.Square(shifted(rho60))
	d := ipts68(degF) - baseITS68
	return math.Exp(-a * d * (1 + 0.8*a*(d+baseShift)))
}

// shifted is rho*, the density at 60 degF on the temperature scale of the base equation.
func shifted(rho60 float64) float64 {
	const b = 2 // (2K0 + K1 rho)/(K0 + K1 rho + K2 rho^2) of crude
	a := baseShift / 2 * crudeK0 / stats.Square(rho60)
	return rho60 * (1 + (math.Exp(a*(1+0.8*a))-1)/(1+a*(1+1.6*a)*b))
}

func ipts68(degF float64) float64 {
	c := (degF - 32) / 1.8
	x := c / 630
	dt := 0.0
	for i := len(its) - 1; i >= 0; i-- {
		dt = x * (its[i] + dt)
	}
	return 1.8*(c-dt) + 32
}

// GravityAt60 turns an API gravity that was observed at a temperature (degF) into the API
// gravity at 60 degF. It is the reading of a density meter: a glass hydrometer's own expansion is not corrected.
func GravityAt60(observedAPI, degF float64) float64 {
	rho := APIDensity(observedAPI)
	at60 := rho
	for range 50 {
		next := rho / ctl(at60, degF)
		if math.Abs(next-at60) < 1e-9 {
			break
		}
		at60 = next
	}
	return DensityAPI(at60)
}

// Observed are the measurements at the opening or at the closing of a run.
type Observed struct {
	Barrels   float64 // table volume at the gauge
	FreeWater float64 // barrels of free water under the oil
	DegF      float64 // temperature of the oil
}

// Gross is the gross standard volume (GSV) of a run in barrels at 60 degF, to 0.01: each
// side's oil times its own CTL, the tank's shell taken as 1.
func Gross(open, closing Observed, api60 float64) float64 {
	o := (open.Barrels - open.FreeWater) * CTL(api60, open.DegF)
	c := (closing.Barrels - closing.FreeWater) * CTL(api60, closing.DegF)
	return stats.Round(o-c, 2)
}

// Net is the net standard volume (NSV) in barrels, to 0.01: the gross as it is printed without its sediment and water in percent, so
// that whoever has the ticket comes to the same.
func Net(gross, percentBSW float64) float64 { return stats.Round(gross*(1-percentBSW/100), 2) }
