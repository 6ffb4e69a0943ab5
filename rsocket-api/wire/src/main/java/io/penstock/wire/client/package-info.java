/// A client of one node: [KvClient] and its options, and a remote node as a tier, [RemoteTier].
@NullMarked
package io.penstock.wire.client;

import org.jspecify.annotations.NullMarked;
