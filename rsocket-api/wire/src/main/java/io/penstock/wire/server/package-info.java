/// A server of one node: [KvServer], its options, and what each connection of it holds.
@NullMarked
package io.penstock.wire.server;

import org.jspecify.annotations.NullMarked;
