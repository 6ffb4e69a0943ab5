package io.penstock.device.sidecar;

import io.penstock.KvException;
import io.penstock.device.sidecar.Message.Done;
import io.penstock.device.sidecar.Message.Failed;
import io.penstock.device.sidecar.Message.Ping;
import io.penstock.operator.Serial;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// One connection of a client: matches answers with requests, sends pings, and ends once, with all open requests.
final class Conversation implements LinkEvents {
  /// Receives the events of a conversation, in the mailbox.
  interface Listener {
    void begun(Conversation talk);

    void ended(Conversation talk, KvException why);
  }

  private final Serial mailbox;
  private final SideCarClientOptions options;
  private final Scheduler timer;
  private final Listener listener;
  /// This and the fields below belong to the mailbox.
  private final Map<Long, Answer> open = new LinkedHashMap<>();
  private @Nullable Link link;
  private Disposable pinging = Disposables.disposed();
  private long asked;
  private long heardNanos;
  private boolean over;

  Conversation(Serial mailbox, SideCarClientOptions options, Scheduler timer, Listener listener) {
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
      pinging = timer.schedulePeriodically(() -> mailbox.run(this::ping), between, between, TimeUnit.NANOSECONDS);
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
      Answer asker = open.remove(frame.request());
      switch (frame.message()) {
        case Failed failed when asker == null -> end(SideCarFailure.of(failed.code(), failed.region(), failed.found()));
        case Failed failed -> asker.failed(SideCarFailure.of(failed.code(), failed.region(), failed.found()));
        case Message answer when asker != null -> asker.answered(answer);
        case Message _ ->
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
  void ask(Message request, Answer answer) {
    if (over || link == null) {
      answer.failed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, "connection lost"));
      return;
    }
    open.put(++asked, answer);
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
    ask(new Ping(), new Answer() {
      @Override
      public void answered(Message message) {
        if (!(message instanceof Done)) {
          end(SideCarFailure.of(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "a ping answered with " + message));
        }
      }

      @Override
      public void failed(KvException failure) {
        end(failure);
      }
    });
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
    List<Answer> unanswered = List.copyOf(open.values());
    open.clear();
    unanswered.forEach(each -> each.failed(lost));
    listener.ended(this, why);
  }
}
