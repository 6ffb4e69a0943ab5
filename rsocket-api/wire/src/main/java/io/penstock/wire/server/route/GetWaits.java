package io.penstock.wire.server.route;

import io.penstock.tier.OnMiss;
import io.penstock.wire.credit.AwaitLimit;
import io.penstock.wire.credit.SilenceLimit;
import java.time.Duration;
import reactor.core.publisher.Flux;

/// How long a `get` may wait.
///
/// @param stall for a reader that gives no credit or takes nothing
/// @param await for a block that is being written
public record GetWaits(SilenceLimit.Rule stall, Duration await) {
  /// Ends `awaited` if a block that it awaits does not come in time.
  <T> Flux<T> limited(Flux<T> awaited, OnMiss onMiss) {
    return onMiss == OnMiss.SKIP ? awaited : AwaitLimit.of(awaited, await, stall.timers());
  }

  /// A reader that awaits blocks may give its credit when they come.
  SilenceLimit.Rule stall(OnMiss onMiss) {
    return onMiss == OnMiss.SKIP ? stall : stall.plus(await);
  }
}
