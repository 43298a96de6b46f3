// Package tankbook keeps the book of a site's tanks: for each tank and production day what was in it, what came, what left, and
// what is left unexplained, so that
//
//	closing = opening + production - runs - water - transfers - other + residual
//
// It listens to the detector (agent/tank): to the levels that it believed, and to what it decided. With a production meter the
// meter, the gauges and the runs leave the residual over. Without one the residual is the slow change of the level at rest,
// between the dumps of a separator, or where the inflow is steady the lack against the tank's own days before; production then
// closes the balance.
//
// Like the detector it is pure: a Book is a value, Next gives the one after an input, and nothing here reads a clock or stores.
// Volumes are barrels, levels inches, times site seconds or seconds of the unix clock, as each says.
//
// The order of the files, of which each uses those before it: still (the slope of all rests of a day), rest (the level
// parted into rests and movements), book (the open days), parts (amounts of a day that have a name), remeasured (another table or
// offset), unseen (what changed over a gap), transfer (oil that went to other tanks), even (what an equaliser moved), balance (a closed
// day, and the production meter), loss (oil that is missing, reported again as it grows), day (gauge-offs; what the detector decided goes to its day;
// the whole step), codec (what is stored), join (days between which no stock is known).
//
// # Decisions
//
// The tank book is a second pure state beside the detector's, stored in the same transaction. A leak is the slope common to all
// rests, fitted with two harmonics of the day; where inflow is steady, a tank is compared with its own days; with a meter, stock
// less meter is what is fitted. The residual is never zero by construction, and a day says how small a loss it would have shown,
// or why none. A run across the gauge-off is booked whole on the day of its closing.
//
// A transfer is known by the giver's volume and shared by what the others rose. A tank's day closes only when no tank of the site
// has an undecided draw, for four hours at most. What the detector saw leave in a draw that is no run, small or by the meter that sells
// the oil, left with what flowed in meanwhile, or went to the tank that rose by the same barrels. What an equaliser moves,
// whenever it does, is a transfer: no production of the tank that rose, and no loss of those that fell. Only what all of a group lost is an
// other amount. A rise that is no production makes a day blind, not its fall a loss.
//
// When a tank begins to be measured otherwise, what the same oil is more or less is no production: it is an other amount with a name. So
// is what a level has changed over a gap by more than production explains, unless the detector finds that it was a run or a transfer.
// The time for which a value hung is such a gap, and as long as it stands no gauge-off has a stock.
// The amounts stand in a day's other barrels; their names are appended to what is stored, so that a version that does not know them
// still balances the day.
package tankbook
