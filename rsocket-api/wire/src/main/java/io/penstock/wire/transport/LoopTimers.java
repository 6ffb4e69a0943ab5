package io.penstock.wire.transport;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.penstock.operator.LiveTimers;
import io.penstock.system.LiveClock;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Timers that run on the event loop of a connection. They stop while this process stands still.
///
/// A loop of no group is driven: it runs when its owner says so, and has a time of its own. Its timers go by that time.
public final class LoopTimers {
  private LoopTimers() {}

  /// Timers that run their tasks on `loop`.
  public static Scheduler of(EventLoop loop) {
    Scheduler ofLoop = Schedulers.fromExecutorService(loop);
    return isDriven(loop) ? ofLoop : LiveTimers.of(ofLoop);
  }

  /// Timers on the first loop of `group`. The group's next loop would shift which loops its connections get.
  public static Scheduler ofFirst(EventLoopGroup group) {
    return of((EventLoop) group.iterator().next());
  }

  /// After a standstill of this process no peer is judged before `loop` has read what waits in its sockets.
  public static void judgeAfter(EventLoop loop) {
    LiveClock clock = LiveClock.process();
    if (!isDriven(loop) && clock.reads(loop)) {
      loop.terminationFuture().addListener(ended -> clock.forget(loop));
    }
  }

  static boolean isDriven(EventLoop loop) {
    return loop.parent() == null;
  }
}
