package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/stats"
)

func TestCTLOfCrude(t *testing.T) {
	for _, c := range []struct{ api, degF, want float64 }{
		{30, 40, 1.00888}, {30, 80, 0.99107}, {30, 100, 0.98210}, {35, 90, 0.98574}, {35, 120, 0.97137},
		{28.5, 110.3, 0.97788}, {44.1, 33, 1.01415}, {40, 40, 1.01001}, {40, 75, 0.99245}, {40, 80, 0.98993},
		{40, 100, 0.97980}, {45, 90, 0.98397}, {36.7, 68.4, 0.99594}, {50, 120, 0.96594},
		{41.2, 82, 0.98876}, {41.2, 79, 0.99030}, {40, 60, 1},
	} {
		if got := CTL(c.api, c.degF); got != c.want {
			t.Errorf("CTL(%v, %v) = %.5f, want %.5f", c.api, c.degF, got, c.want)
		}
	}
}

// The known slips in this formula move rho* by thousandths of a kg/m3 and hide below 0.00001
// in the CTL of crude, so rho* is tested itself, against 40-digit arithmetic.
func TestShiftedDensity(t *testing.T) {
	for api, want := range map[float64]float64{10: 999.018347304, 30: 875.301527374, 41.2: 818.536530185, 60: 738.179490052} {
		if got := shifted(APIDensity(api)); math.Abs(got-want) > 1e-7 {
			t.Errorf("rho* of %v API = %.9f, want %.9f", api, got, want)
		}
	}
}

func TestScaleOf1968(t *testing.T) {
	if got := ipts68(60); math.Abs(got-60.0068749) > 5e-8 {
		t.Errorf("60 degF is %.8f on the older scale, want 60.0068749", got)
	}
}

func TestGravityAt60(t *testing.T) {
	for _, c := range []struct{ api, degF, want float64 }{{38.7, 80, 37.04}, {40, 75, 38.72}, {42.3, 95, 39.26}} {
		if got := stats.Round(GravityAt60(c.api, c.degF), 2); got != c.want {
			t.Errorf("%v at %v is %v, want %v", c.api, c.degF, got, c.want)
		}
	}
	// 0.920 g/cm3 observed at 42 degC: 937.417 kg/m3 at 60 degF, thermal expansion 0.00038816.
	rho := APIDensity(GravityAt60(DensityAPI(920), 107.6))
	if math.Abs(rho-937.417) > 0.001 || math.Abs(crudeK0/stats.Square(shifted(rho))-0.00038816) > 5e-9 {
		t.Errorf("920 kg/m3 at 42 degC is %.4f at 60 degF, alpha %.8f", rho, crudeK0/stats.Square(shifted(rho)))
	}
	if got := stats.Round(SpecificGravity(41.2), 4); got != 0.8193 {
		t.Errorf("SpecificGravity(41.2) = %v, want 0.8193", got)
	}
	if got := SpecificAPI(SpecificGravity(33.3)); math.Abs(got-33.3) > 1e-9 {
		t.Errorf("33.3 API there and back is %v", got)
	}
}

// 1.67 bbl/in, 171.25 to 49.50 in, 41.2 API at 60, 82 and 79 degF, 0.4 % S&W.
func TestTicketChain(t *testing.T) {
	gross := Gross(Observed{Barrels: 171.25 * 1.67, DegF: 82}, Observed{Barrels: 49.5 * 1.67, DegF: 79}, 41.2)
	if gross != 200.91 {
		t.Errorf("GSV = %v, want 200.91", gross)
	}
	if net := Net(gross, 0.4); net != 200.11 {
		t.Errorf("NSV = %v, want 200.11", net)
	}
	// Of 100.106 bbl the gross is printed as 100.11, and 99 % of that is what whoever has the ticket comes to.
	if net := Net(Gross(Observed{Barrels: 100.106, DegF: 60}, Observed{DegF: 60}, 40), 1); net != 99.11 {
		t.Errorf("NSV of 100.106 bbl with 1 %% of water = %v, want 99.11: of the gross that is printed", net)
	}
	// 10 bbl of free water in the opening are no oil.
	if wet := Gross(Observed{171.25 * 1.67, 10, 82}, Observed{Barrels: 49.5 * 1.67, DegF: 79}, 41.2); math.Abs(gross-wet-9.89) > 0.0051 {
		t.Errorf("free water of 10 bbl at 82 degF takes %v, want 9.89", gross-wet)
	}
}

// A volume that is uncertain says at which gauge, where it is by more than the other's, and what the sensor or its gateway keeps back.
func TestWhereAVolumeIsUncertain(t *testing.T) {
	at := func(open, closed, step, deadband float64) string {
		return draw{opening: gauge{err: open}, closing: gauge{err: closed}, resolution: resolution{step: step, deadband: deadband}}.unsureBy()
	}
	for want, got := range map[string]string{
		"":                            at(0.5, 0.6, 0.01, 0),
		", most of it at its opening": at(0.9, 0.3, 0.01, 0),
		", most of it at its closing: it is only told when it has moved by 0.50 in": at(0.2, 0.9, 0.01, 0.5),
		": its level comes in steps of 2.40 in":                                     at(0.9, 0.9, 2.4, 0),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
