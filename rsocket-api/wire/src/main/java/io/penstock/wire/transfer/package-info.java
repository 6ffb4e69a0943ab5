/// Segments of memory, and batches of reads and writes between them and local memory.
///
/// ```
/// caller ── submit(batch) ──> TransferEngine            one Transfer a batch: Flux of results, Mono of the whole
///                                  │
///          ┌───────────────────────┼───────────────────┐
///        Peer "a"               Peer "b"            Peer "c"          queue → lane (items, bytes) → attempts
///          │                       │                   │              descriptors, connection, back-off
///      SegmentLink             SegmentLink         SegmentLink        a transport: credit, bytes, verification
///          │
///   ~~~~~~ │ ~~~~~~ the wire
///   SegmentRegistry of node "a": segments, holds, inbox
/// ```
///
/// **An item** is `WAITING` in the queue of its peer, `PENDING` in the lane until there is a connection that was
/// described, `IN_PROGRESS` while its bytes move, and ends once: `COMPLETED`, `FAILED`, `TIMEOUT` or `CANCELLED`. An
/// item that is stopped in progress ends when its operation has: then no frame refers to its memory, and nothing lands
/// in it. Bytes that arrived nevertheless count as completed.
///
/// | | |
/// |---|---|
/// | shape | one [Transfer] a batch, one result an item, in the order in which items end |
/// | units | bytes; offsets from the start of a segment; a deadline counts from the submission |
/// | backpressure | results wait for demand; items wait in their peer's queue (`queuedItems`), bytes for the budget |
/// | cancel | [Transfer#cancel()]; a cancel of the results' subscription stops nothing |
/// | errors | of one item in its result, of the batch in its summary; no stream fails |
/// | second attempt | once, after a back-off, for what may pass: a lost connection, a restarted peer (for items that name |
/// | | their segment), damaged bytes, a peer that refuses for now; the peer is described anew before it |
/// | threads | those of the transport, of the timers, or the caller's; callers that wait use [BlockingTransfers] |
///
/// A peer that stands still holds its own lane, its send window, and no more of the budget than it leaves free.
@NullMarked
package io.penstock.wire.transfer;

import org.jspecify.annotations.NullMarked;
