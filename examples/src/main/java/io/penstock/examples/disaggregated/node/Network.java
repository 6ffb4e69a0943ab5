package io.penstock.examples.disaggregated.node;

import io.penstock.operator.LiveTimers;
import java.time.Duration;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// The threads of one node.
///
/// @param loops read and write sockets
/// @param timers run time limits
/// @param sending packs pushed layers
public record Network(LoopResources loops, Scheduler timers, Scheduler sending) implements AutoCloseable {
  public static Network create(String name) {
    return new Network(LoopResources.create(name, 1, true), LiveTimers.of(Schedulers.newSingle(name + "-timers")),
        Schedulers.newSingle(name + "-sending"));
  }

  @Override
  public void close() {
    timers.dispose();
    sending.dispose();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(5));
  }
}
