// Package ledger turns readings into records: tickets, events and values of the wells, each in one transaction with the state
// that it came from.
package ledger
