/// Redis' protocol (RESP) at a node: values of 1 byte to 512 MiB, which lie in its tiers like blocks.
///
/// [io.penstock.resp.RespDoor] is found by a node whose setting `resp` says where to listen. A connection reads one
/// request after the other: `codec-redis` frames it, a command answers it. The bytes of a value go piece by piece from
/// the socket into the memory of a tier, and back, and are never in one buffer.
@NullMarked
package io.penstock.resp;

import org.jspecify.annotations.NullMarked;
