package io.penstock.examples.engine.transformer;

import io.penstock.block.BlockKey;
import io.penstock.examples.openai.EngineRequest;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/// Requests that wait in a decode for their turn. Their blocks are leased at the prefill: without a lease a prefill
/// holds them for a short time alone. A lease ends with the connection, so a prefill frees the blocks of a decode that
/// died at once.
final class WaitingPrompts {
  private final Peers peers;
  private final Map<EngineRequest, Runnable> leases = Collections.synchronizedMap(new IdentityHashMap<>());

  WaitingPrompts(Peers peers) {
    this.peers = peers;
  }

  /// Leases the blocks of a request. [#release] must follow.
  ///
  /// @param prefill where they are, as `host:port`
  void hold(EngineRequest request, String prefill, List<BlockKey> keys) {
    leases.put(request, peers.lease(prefill, keys));
  }

  /// The blocks are here, or the request has ended. Idempotent.
  void release(EngineRequest request) {
    Runnable release = leases.remove(request);
    if (release != null) {
      release.run();
    }
  }
}
