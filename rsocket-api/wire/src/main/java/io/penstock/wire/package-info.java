/// Blocks on the wire: the protocol, a server for any tier, and a client that makes a remote node look like
/// a tier. Bytes move only as fast as the receiving side asks for them.
///
/// Rooms, each of which may use those above it: `trace`, `security`, `transport`, `transfer`; `protocol`; `cluster`;
/// `report`; `credit`; `slice`; `segment`; `client`, then `rank` and `cluster.tier`; `server`, which knows no client.
/// This package has the two types that most programs need, a node and a client that bring all their parts. It also
/// shows the work of a server by meters.
@NullMarked
package io.penstock.wire;

import org.jspecify.annotations.NullMarked;
