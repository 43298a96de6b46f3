// Package line is one socket or serial port with Modbus units behind it: a request goes out, and its one answer comes
// back or an error that says what went wrong. It knows units, tables and addresses, and nothing of points or devices.
//
// Lines opens each place once, however many ask for it (lines.go, borrow.go, redial.go; endpoint.go, serial_params.go and
// tls.go read the URL). Line.Read is the one way in (line.go, request.go): it has one owner at a time and one request on the
// wire. Requests and answers are coded by goburrow's client (goburrow.go); what goes over the wire is our own: mbap.go for
// sockets, bus.go for serial lines in the frames of rtu.go or ascii.go (codec.go is what both are); serial_linux.go opens the
// port, and serial_other.go says that there is none. span.go is a run of addresses, errors.go what can become of a request.
// Beside the road stand the price of a request (cost.go), the counters (stats.go, rounds.go) and what a person sees of the
// traffic (trace.go, trace_decode.go).
//
// # What happens to a late answer
//
// On a socket an answer bears the number of its request: a late one is passed over, and counted (mbap.go).
//
// On a serial line nothing says which request an answer belongs to (pending_replies.go, and bus.go, which uses it). What
// comes while nobody asks is thrown away, and so is what comes before a request. A unit that has not answered still owes
// its reply: it is left alone for one more time-out. If what it owes could be taken for the next answer, it is first asked
// for another number of registers: a unit's answers do not overtake each other, so data of a length that was asked for
// once since proves that all before it are out of the way. The registers that are asked for then keep off what the
// configuration forbids. A refusal has no length of its own and proves nothing of the kind.
//
// # Decisions
//
// Plan and budget count with one price (Cost): characters, silences and turnaround are the time of a request. Behind a
// socket bytes cost nearly nothing, but gateways with a serial line behind them and maps with holes are common; there an
// address that nobody wants costs a 21st part of a request on top.
//
// A trace sits round the stream, not in the transports: a wrapper sees what is written and read, and takes it apart again
// by itself. While nobody looks it costs one flag.
package line
