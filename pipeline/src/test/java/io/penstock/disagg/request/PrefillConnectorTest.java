package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal.Kind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

final class PrefillConnectorTest {
  private static final RankId A = new RankId("decode", 0);
  private static final RankId B = new RankId("decode", 1);
  private static final LifecycleOptions OPTIONS =
      LifecycleOptions.defaults().withLease(Duration.ofSeconds(30), Duration.ofMinutes(5));

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final Map<String, Release> released = new LinkedHashMap<>();
  private final PrefillConnector requests = new PrefillConnector(OPTIONS, new LifecycleListener() {
    @Override
    public void released(String request, Release release) {
      assertThat(released.put(request, release)).isNull();
    }
  }, time);

  private boolean tell(Kind kind, String request, RankId from) {
    return tell(kind, request, from, 2);
  }

  private boolean tell(Kind kind, String request, RankId from, int readers) {
    boolean[] acknowledged = new boolean[1];
    requests.accept(new Signal(kind, request, from.since(1), readers)).subscribe(nothing -> {}, error -> {},
        () -> acknowledged[0] = true);
    return acknowledged[0];
  }

  @Test
  void distinctReceivers_count_andRepeatedOnesDoNot() {
    requests.open("r", Set.of(A, B), HeldBlocks.none());
    assertThat(tell(Kind.DONE, "r", A)).isTrue();
    assertThat(tell(Kind.DONE, "r", A)).isTrue();
    assertThat(tell(Kind.DONE, "r", new RankId("other", 0))).isTrue();
    assertThat(released).isEmpty();
    tell(Kind.DONE, "r", B);
    tell(Kind.DONE, "r", B);
    tell(Kind.CANCEL, "r", B);
    assertThat(released).containsExactly(Map.entry("r", Release.DONE));
    PrefillConnector.Figures figures = requests.figures();
    assertThat(figures).extracting(PrefillConnector.Figures::duplicates, PrefillConnector.Figures::strangers,
        PrefillConnector.Figures::late, PrefillConnector.Figures::held).containsExactly(1L, 1L, 2L, 0L);
  }

  private RequestAnswer answer(Kind kind, String request, RankId from, long generation) {
    return requireNonNull(requests.accept(new Signal(kind, request, from.since(generation), 2)).block());
  }

  /// An answer for each signal that counts, comes too early or too late, is repeated, or is none of a receiver.
  @Test
  void answers_sayWhatBecameOfASignal() {
    assertThat(answer(Kind.RENEW, "r", A, 2)).isEqualTo(RequestAnswer.of(Outcome.EARLY));
    requests.open("r", Set.of(A, B), HeldBlocks.none());
    assertThat(answer(Kind.RENEW, "r", A, 2)).isEqualTo(RequestAnswer.of(Outcome.APPLIED));
    assertThat(answer(Kind.RENEW, "r", A, 1)).isEqualTo(RequestAnswer.of(Outcome.STALE));
    assertThat(answer(Kind.DONE, "r", new RankId("other", 0), 1)).isEqualTo(RequestAnswer.of(Outcome.STRANGER));
    assertThat(answer(Kind.DONE, "r", A, 2)).isEqualTo(RequestAnswer.of(Outcome.APPLIED));
    assertThat(answer(Kind.DONE, "r", A, 2)).isEqualTo(RequestAnswer.of(Outcome.REPEATED));
    assertThat(answer(Kind.DONE, "r", B, 1)).isEqualTo(RequestAnswer.of(Outcome.APPLIED));
    for (Kind kind : Kind.values()) {
      assertThat(answer(kind, "r", B, 1)).as("%s, too late", kind).isEqualTo(RequestAnswer.over(Release.DONE));
    }
    assertThat(requests.withdraw("r")).isEqualTo(RequestAnswer.over(Release.DONE));
    assertThat(requests.withdraw("never kept")).isEqualTo(RequestAnswer.of(Outcome.UNKNOWN));
    answer(Kind.CANCEL, "s", A, 1);
    assertThat(requests.withdraw("s")).as("only signals came").isEqualTo(RequestAnswer.of(Outcome.UNKNOWN));
    assertThat(requests.open("s", Set.of(A), HeldBlocks.none())).isEqualTo(RequestAnswer.over(Release.CANCELLED));
  }

  @Test
  void unknownReceivers_areAsManyAsTheFirstOneSays() {
    requests.open("r", HeldBlocks.none());
    tell(Kind.DONE, "r", A, 2);
    tell(Kind.RENEW, "r", A, 1);
    assertThat(released).isEmpty();
    tell(Kind.DONE, "r", B, 2);
    assertThat(released).containsEntry("r", Release.DONE);
  }

  @Test
  void moreRanksThanOneOfThemSays_areStrangers() {
    requests.open("r", HeldBlocks.none());
    for (int rank = 0; rank < 100; rank++) {
      tell(Kind.RENEW, "r", new RankId("decode", rank), 2);
      tell(Kind.DONE, "early", new RankId("decode", rank), 2);
    }
    assertThat(requests.figures().strangers()).isEqualTo(2 * 98);
    tell(Kind.DONE, "r", A);
    tell(Kind.DONE, "r", B);
    requests.open("early", Set.of(B, new RankId("decode", 7)), HeldBlocks.none());
    assertThat(released).containsExactly(Map.entry("r", Release.DONE));
  }

  @Test
  void aCancel_ends_thoughAnotherReceiverWasHeard() {
    requests.open("r", HeldBlocks.none());
    tell(Kind.RENEW, "r", A, 2);
    tell(Kind.CANCEL, "r", B, 1); // a cancel does not say how many there are
    tell(Kind.DONE, "early", A, 2);
    tell(Kind.REJECT, "early", B, 1);
    requests.open("early", HeldBlocks.none());
    assertThat(released).containsExactly(Map.entry("r", Release.CANCELLED), Map.entry("early", Release.REJECTED));
  }

  @Test
  void knownReceivers_areCounted_whateverTheySay() {
    requests.open("r", Set.of(A, B), HeldBlocks.none());
    tell(Kind.DONE, "r", A, 1);
    assertThat(released).isEmpty();
    tell(Kind.DONE, "r", B, 1);
    assertThat(released).containsEntry("r", Release.DONE);
  }

  @Test
  void whatAnEarlierStartOfAReceiverSaid_doesNotCount() {
    requests.open("r", Set.of(A, B), HeldBlocks.none());
    tell(Kind.DONE, "r", A);
    requests.accept(new Signal(Kind.RENEW, "r", A.since(2), 2)).subscribe();
    assertThat(tell(Kind.DONE, "r", A)).isTrue();
    assertThat(tell(Kind.CANCEL, "r", A)).isTrue();
    tell(Kind.DONE, "r", B);
    assertThat(released).as("the later start still reads").isEmpty();
    assertThat(requests.figures().late()).isEqualTo(2);
    requests.accept(new Signal(Kind.DONE, "r", A.since(2), 2)).subscribe();
    assertThat(released).containsEntry("r", Release.DONE);
  }

  @Test
  void signalsBeforeTheOpening_count() {
    tell(Kind.DONE, "r", A);
    requests.open("r", Set.of(A, B), HeldBlocks.none());
    tell(Kind.DONE, "r", B);
    assertThat(tell(Kind.REJECT, "s", A)).isTrue();
    requests.open("s", Set.of(A, B), HeldBlocks.none());
    assertThat(released).containsExactly(Map.entry("r", Release.DONE), Map.entry("s", Release.REJECTED));
  }

  @Test
  void aLease_isRenewedWhileBytesMove_andExpiresOnAnIdleNode() {
    requests.open("r", Set.of(A), HeldBlocks.none());
    time.advanceTimeBy(Duration.ofSeconds(299)); // until the first sign
    tell(Kind.RENEW, "r", A);
    assertThat(requests.state("r")).contains(RequestState.WAITING_FOR_INPUT);
    time.advanceTimeBy(Duration.ofMillis(500));
    requests.open("long", Set.of(A), HeldBlocks.none());
    for (int i = 0; i < 14; i++) {
      requests.moved("long");
      time.advanceTimeBy(Duration.ofSeconds(20));
      assertThat(released).doesNotContainKey("long");
    }
    assertThat(requests.state("long")).contains(RequestState.TRANSFERRING);
    assertThat(released).containsEntry("r", Release.EXPIRED);
    time.advanceTimeBy(Duration.ofSeconds(31));
    assertThat(released).containsEntry("long", Release.EXPIRED);
    assertThat(requests.figures().expired()).isEqualTo(2);
  }

  @Test
  void aReceiverThatVanishesAfterItsFirstSign_costsNoMoreThanALease() {
    requests.open("asked", Set.of(A), HeldBlocks.none());
    tell(Kind.RENEW, "asked", A);
    requests.open("read", Set.of(A), HeldBlocks.none());
    requests.moved("read");
    tell(Kind.RENEW, "early", A);
    requests.open("early", Set.of(A), HeldBlocks.none());
    time.advanceTimeBy(Duration.ofSeconds(29));
    assertThat(released).isEmpty();
    time.advanceTimeBy(Duration.ofSeconds(2));
    assertThat(released).containsOnlyKeys("asked", "read", "early").containsValue(Release.EXPIRED);
  }

  @Test
  void nothingIsKeptForLongerThanAllowed() {
    requests.open("r", Set.of(A), HeldBlocks.none());
    for (int i = 0; i < 16; i++) {
      requests.moved("r");
      time.advanceTimeBy(Duration.ofSeconds(20));
    }
    assertThat(released).containsEntry("r", Release.EXPIRED);
  }

  @Test
  void aCancel_isAcknowledgedWhenReadsHaveDrained() {
    Sinks.Empty<Void> reads = Sinks.empty();
    requests.open("r", Set.of(A, B), reads::asMono);
    boolean[] acknowledged = new boolean[1];
    requests.accept(new Signal(Kind.CANCEL, "r", A.since(1), 2)).subscribe(nothing -> {}, error -> {},
        () -> acknowledged[0] = true);
    assertThat(requests.figures().held()).isOne();
    assertThat(acknowledged[0]).isFalse();
    assertThat(released).isEmpty();
    assertThat(tell(Kind.CANCEL, "r", B)).isFalse();
    reads.tryEmitEmpty();
    assertThat(acknowledged[0]).isTrue();
    assertThat(released).containsEntry("r", Release.CANCELLED);
    assertThat(requests.figures().held()).isZero();
  }

  @Test
  void aName_servesOneRequest_andIsForgottenInTime() {
    requests.open("r", Set.of(A), HeldBlocks.none());
    assertThatThrownBy(() -> requests.open("r", Set.of(A), HeldBlocks.none())).hasMessageContaining("must be new");
    requests.withdraw("r");
    requests.withdraw("r");
    assertThat(released).containsEntry("r", Release.WITHDRAWN);
    assertThatThrownBy(() -> requests.open("r", Set.of(A), HeldBlocks.none()))
        .hasMessageContaining("has ended already");
    tell(Kind.DONE, "early", A);
    assertThat(requests.figures().remembered()).isEqualTo(2);
    time.advanceTimeBy(Duration.ofSeconds(301));
    assertThat(requests.figures().remembered()).isZero();
    assertThat(requests.state("r")).isEmpty();
  }

  @Test
  void aClose_endsAllAndDrains() {
    Sinks.Empty<Void> reads = Sinks.empty();
    requests.open("r", Set.of(A), reads::asMono);
    boolean[] closed = new boolean[1];
    requests.close().subscribe(nothing -> {}, error -> {}, () -> closed[0] = true);
    assertThat(closed[0]).isFalse();
    reads.tryEmitEmpty();
    assertThat(closed[0]).isTrue();
  }

  @Test
  void blocksThatCannotBeGivenUp_endTheRequestAllTheSame() {
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    Throwable[] told = new Throwable[1];
    thread.setUncaughtExceptionHandler((where, error) -> told[0] = error);
    try {
      requests.open("r", Set.of(A), () -> Mono.error(new IllegalStateException("of the test")));
      tell(Kind.DONE, "r", A);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    assertThat(released).containsEntry("r", Release.DONE);
    assertThat(told[0]).hasMessage("of the test");
  }

  /// Equal blocks under another lease.
  private record Keys(String keys) implements HeldBlocks {
    @Override
    public boolean isSameAs(HeldBlocks other) {
      return equals(other);
    }

    @Override
    public Mono<Void> release() {
      return Mono.empty();
    }
  }

  @Test
  void aRequestIsOpenedAgain_withTheSameBlocksAlone() {
    assertThat(requests.isOpen("r", Set.of(A), new Keys("a")::isSameAs)).isFalse();
    assertThat(requests.open("r", Set.of(A), new Keys("a"))).isEqualTo(RequestAnswer.of(Outcome.APPLIED));
    assertThat(requests.open("r", Set.of(A), new Keys("a"))).as("again")
        .isEqualTo(RequestAnswer.of(Outcome.REPEATED));
    assertThat(requests.isOpen("r", Set.of(A), new Keys("a")::isSameAs)).isTrue();
    assertThatThrownBy(() -> requests.open("r", Set.of(A), new Keys("b"))).hasMessageContaining("must be new");
    assertThatThrownBy(() -> requests.open("r", Set.of(B), new Keys("a"))).hasMessageContaining("must be new");
    assertThat(requests.figures().held()).isOne();
  }

  @Test
  void aDrain_waitsForTheRequestsThatAreKept() {
    boolean[] drained = new boolean[2];
    requests.open("r", Set.of(A), HeldBlocks.none());
    requests.drained().subscribe(nothing -> {}, error -> {}, () -> drained[0] = true);
    assertThat(requests.isDraining()).isTrue();
    assertThat(drained[0]).isFalse();
    tell(Kind.DONE, "r", A, 1);
    assertThat(drained[0]).isTrue();
    requests.drained().subscribe(nothing -> {}, error -> {}, () -> drained[1] = true);
    assertThat(drained[1]).as("nothing is kept").isTrue();
  }
}
