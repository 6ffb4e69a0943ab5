package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

final class NotificationInboxTest {
  private final List<String> heard = new ArrayList<>();
  private final NotificationInbox inbox = new NotificationInbox(4);

  private class Reader implements CoreSubscriber<Notification> {
    private final long n;
    private final boolean throwing;

    Reader(long n, boolean throwing) {
      this.n = n;
      this.throwing = throwing;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(n);
    }

    @Override
    public void onNext(Notification notification) {
      if (throwing) {
        throw new IllegalStateException("reader threw");
      }
      heard.add(notification.message());
    }

    @Override
    public void onError(Throwable error) {
      heard.add(error.getMessage());
    }

    @Override
    public void onComplete() {}
  }

  private void accept(long sequence) {
    inbox.accept(1, sequence, new Notification("engine", "message " + sequence));
  }

  @Test
  void readerThatThrows_fails_notTheSender() {
    inbox.flux().subscribe(new Reader(Long.MAX_VALUE, true));
    accept(1);
    accept(2);
    assertThat(heard).containsExactly("reader threw");

    inbox.flux().subscribe(new Reader(2, false));

    assertThat(heard).containsExactly("reader threw", "message 2");
  }

  @Test
  void readerThatAsksForNothing_fails_andKeepsNoOtherAway() {
    inbox.flux().subscribe(new Reader(0, false));
    accept(1);
    assertThat(heard).containsExactly("request must be > 0 (was 0), Reactive Streams rule 3.9");

    inbox.flux().subscribe(new Reader(1, false));

    assertThat(heard).last().isEqualTo("message 1");
  }

  @Test
  void readerThatCancelledBeforeItThrew_failsNoOther() {
    Reader next = new Reader(Long.MAX_VALUE, false);
    inbox.flux().subscribe(new Reader(1, true) {
      private Subscription subscription = Operators.emptySubscription();

      @Override
      public void onSubscribe(Subscription given) {
        subscription = given;
        super.onSubscribe(given);
      }

      @Override
      public void onNext(Notification notification) {
        subscription.cancel();
        inbox.flux().subscribe(next);
        super.onNext(notification);
      }
    });

    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    List<Throwable> reported = new ArrayList<>();
    thread.setUncaughtExceptionHandler((of, error) -> reported.add(error));
    try {
      accept(1);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    accept(2);

    assertThat(reported).extracting(Throwable::getMessage).containsExactly("reader threw");
    assertThat(heard).containsExactly("message 2");
  }
}
