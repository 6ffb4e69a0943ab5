/// The life of a request whose KV blocks go from the ranks of one instance to those of another.
///
/// A rank of the prefill side keeps blocks until each receiver is done with them
/// ([io.penstock.disagg.request.PrefillConnector]). A rank of the decode side receives every shard of a request in its
/// own blocks ([io.penstock.disagg.request.DecodeConnector]). Engines call both, and nodes serve them.
@NullMarked
package io.penstock.disagg.request;

import org.jspecify.annotations.NullMarked;
