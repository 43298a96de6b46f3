// Package tankbook keeps the book of a site's tanks: for each tank and production day what was in it, what came, what left, and
// what is left unexplained, so that
//
//	closing = opening + production - runs - water - transfers - other + residual
//
// It listens to the detector (agent/tank): to the levels that it believed, and to what it decided. With a production meter the
// residual is what the meter, the gauges and the runs leave over. Without one the residual is the slow change of the level at
// rest, between the dumps of a separator, or where the inflow is steady what is missing against the tank's own days before;
// production is what then closes the balance.
//
// Like the detector it is pure: a Book is a value, Next gives the one after an input, and nothing here reads a clock or stores.
// Volumes are barrels, levels inches, times site seconds or seconds of the unix clock, as each says.
//
// The order of the files: book (what it is told and says), rest (the level parted into rests and movements), still (the slope
// of all rests), meter (the production meter), day (gauge-offs; what the detector decided is booked on its day), transfer (oil
// that went to other tanks), balance (the closed day), loss (what is missing, told of once), codec (how it is stored).
package tankbook
