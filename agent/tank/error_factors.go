package tank

// errorFactors are by class the factors of a load's error.
var errorFactors = map[string]float64{}
