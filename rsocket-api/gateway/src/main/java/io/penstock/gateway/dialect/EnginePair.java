package io.penstock.gateway.dialect;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The instances that were chosen for a request.
///
/// @param prefill the instance that computes the prompt; null where one instance does both
/// @param decode the instance that answers
/// @param spares further decode instances; a dialect may use one when the first refused the connection
public record EnginePair(@Nullable EngineAddress prefill, EngineAddress decode, List<EngineAddress> spares) {
  public EnginePair {
    spares = List.copyOf(spares);
  }

  /// A pair without spares.
  public static EnginePair of(EngineAddress prefill, EngineAddress decode) {
    return new EnginePair(prefill, decode, List.of());
  }

  /// One instance that does both.
  public static EnginePair single(EngineAddress both) {
    return new EnginePair(null, both, List.of());
  }

  EngineAddress requirePrefill() {
    if (prefill == null) {
      throw RequestFailure.ofEngines("no prefill instance was chosen, and the dialect needs one", "");
    }
    return prefill;
  }
}
