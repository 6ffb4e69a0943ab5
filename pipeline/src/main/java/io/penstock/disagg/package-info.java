/// Prefill here, decode there: the life of a request whose KV blocks go from the ranks of one instance to those of
/// another.
///
/// A *rank* is one worker of an instance. The *prefill side* keeps blocks until each receiver is done with them
/// ([io.penstock.disagg.PrefillRequests]); the *decode side* has every shard of a request moved into its own blocks
/// ([io.penstock.disagg.DecodeRequests]).
@NullMarked
package io.penstock.disagg;

import org.jspecify.annotations.NullMarked;
