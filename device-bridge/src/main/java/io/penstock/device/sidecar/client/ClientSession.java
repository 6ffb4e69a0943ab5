package io.penstock.device.sidecar.client;

import io.penstock.KvException;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import io.penstock.device.sidecar.link.SideCarMessage.Ping;
import io.penstock.operator.LiveTimers;
import io.penstock.operator.Serial;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// One connection of a client: matches answers with requests, sends pings, and ends once, with all open requests.
final class ClientSession implements Link.Events {
  /// Receives the end of one request: exactly one of the two is called.
  private record Asker(Consumer<SideCarMessage> answered, Consumer<KvException> failed) {}

  /// Receives the events of a conversation, in the mailbox.
  interface Listener {
    void begun(ClientSession talk);

    void ended(ClientSession talk, KvException why);
  }

  private final Serial mailbox;
  private final SideCarClientOptions options;
  private final Scheduler timer;
  private final Listener listener;
  /// This and the fields below belong to the mailbox.
  private final Map<Long, Asker> open = new LinkedHashMap<>();
  private @Nullable Link link;
  private Disposable pinging = Disposables.disposed();
  private long asked;
  private long heardNanos;
  private boolean over;

  ClientSession(Serial mailbox, SideCarClientOptions options, Scheduler timer, Listener listener) {
    this.mailbox = mailbox;
    this.options = options;
    this.timer = timer;
    this.listener = listener;
  }

  @Override
  public void opened(Link opened) {
    mailbox.run(() -> {
      link = opened;
      if (over) {
        opened.close();
        return;
      }
      heardNanos = now();
      long between = options.ping().toNanos();
      // After a standstill, too: the node may be about to count this client as silent
      pinging = Disposables.composite(
          timer.schedulePeriodically(() -> mailbox.run(this::ping), between, between, TimeUnit.NANOSECONDS),
          LiveTimers.wakes(timer).subscribe(late -> mailbox.run(this::ping)));
      listener.begun(this);
    });
  }

  @Override
  public void received(Frame frame) {
    mailbox.run(() -> {
      if (over) {
        return;
      }
      heardNanos = now();
      Asker asker = open.remove(frame.request());
      switch (frame.message()) {
        case Failed failed when asker == null -> end(SideCarFailure.of(failed.code(), failed.region(), failed.found()));
        case Failed failed -> asker.failed.accept(SideCarFailure.of(failed.code(), failed.region(), failed.found()));
        case SideCarMessage answer when asker != null -> asker.answered.accept(answer);
        case SideCarMessage _ ->
          end(SideCarFailure.of(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "an answer to nothing"));
      }
    });
  }

  @Override
  public void malformed(MalformedFrameException problem) {
    mailbox.run(() -> end(SideCarFailure.of(problem.code(), SideCarFailure.NO_REGION, problem.found())));
  }

  @Override
  public void closed(KvException why) {
    mailbox.run(() -> end(why));
  }

  boolean isOver() {
    return over;
  }

  /// Asks the node; in the mailbox.
  ///
  /// @param failed receives a [SideCarFailure]
  void ask(SideCarMessage request, Consumer<SideCarMessage> answered, Consumer<KvException> failed) {
    if (over || link == null) {
      failed.accept(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, "connection lost"));
      return;
    }
    open.put(++asked, new Asker(answered, failed));
    link.send(new Frame(asked, request));
  }

  private void ping() {
    if (over) {
      return;
    }
    if (now() - heardNanos > options.timeToLive().toNanos()) {
      end(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION,
          "node silent for " + options.timeToLive().toMillis() + " ms"));
      return;
    }
    ask(new Ping(), message -> {
      if (!(message instanceof Done)) {
        end(SideCarFailure.of(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "a ping answered with " + message));
      }
    }, this::end);
  }

  private long now() {
    return timer.now(TimeUnit.NANOSECONDS);
  }

  /// Hangs up. Open requests fail with `why` before the listener is called.
  void end(KvException why) {
    if (over) {
      return;
    }
    over = true;
    pinging.dispose();
    if (link != null) {
      link.close();
    }
    KvException lost = why instanceof SideCarFailure known && known.code() == SideCarCode.CLOSED
        ? why
        : SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, String.valueOf(why.getMessage()));
    List<Asker> unanswered = List.copyOf(open.values());
    open.clear();
    unanswered.forEach(each -> each.failed.accept(lost));
    listener.ended(this, why);
  }
}
