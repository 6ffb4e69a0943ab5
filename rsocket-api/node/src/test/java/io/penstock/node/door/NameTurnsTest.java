package io.penstock.node.door;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

@Timeout(120)
final class NameTurnsTest {
  private final NameTurns turns = new NameTurns();
  private final List<String> done = new ArrayList<>();

  private Mono<Void> step(String text) {
    return Mono.fromRunnable(() -> done.add(text));
  }

  @Test
  void stepsOfOneName_comeOneAfterTheOther_andNoOtherNameWaits() {
    Sinks.Empty<Void> first = Sinks.empty();
    turns.run("a", first.asMono().then(step("first"))).subscribe();
    turns.run("a", step("second")).subscribe();
    turns.run("b", step("other")).subscribe();
    assertThat(done).containsExactly("other");
    first.tryEmitEmpty();
    assertThat(done).containsExactly("other", "first", "second");
    assertThat(turns.count()).isZero();
  }

  @Test
  void stepThatIsCancelled_goesOnToItsEnd_beforeTheNextOneBegins() {
    Sinks.Empty<Void> first = Sinks.empty();
    Disposable cancelled = turns.run("a", first.asMono().then(step("first"))).subscribe();
    Disposable waiting = turns.run("a", step("never")).subscribe();
    turns.run("a", step("last")).subscribe();
    waiting.dispose();
    cancelled.dispose();
    assertThat(done).isEmpty();
    assertThat(turns.count()).isOne();
    first.tryEmitEmpty();
    assertThat(done).containsExactly("first", "last");
    assertThat(turns.count()).isZero();
  }

  @Test
  void stepThatFails_endsItsTurn() {
    assertThat(turns.run("a", Mono.error(new IllegalStateException("broken"))).onErrorReturn("failed").block())
        .isEqualTo("failed");
    assertThat(turns.count()).isZero();
  }

  @Test
  void whoHasLeft_getsNoTurn() {
    NameTurns.Turn left = turns.enter("a");
    left.leave();
    left.begin().subscribe(end -> {}, failure -> {}, () -> done.add("begun"));
    left.toItsEnd(step("run")).subscribe();
    assertThat(done).isEmpty();
    assertThat(turns.run("a", Mono.just(1)).block()).isOne();
    assertThat(turns.count()).isZero();
  }

  @Test
  void oneIsOvertaken_ifAnotherStoresAfterItEntered() {
    NameTurns.Turn first = turns.enter("a");
    NameTurns.Turn second = turns.enter("a");
    second.begin().block();
    second.stored();
    NameTurns.Turn third = turns.enter("a");
    assertThat(first.isOvertaken()).isTrue();
    assertThat(third.isOvertaken()).isFalse();
    second.leave();
    first.leave();
    third.leave();
    assertThat(turns.count()).isZero();
  }

  @Test
  void manyWhoWait_takeNoDeepStack() {
    Sinks.Empty<Void> first = Sinks.empty();
    turns.run("a", first.asMono()).subscribe();
    AtomicInteger ran = new AtomicInteger();
    for (int i = 0; i < 20_000; i++) {
      turns.run("a", Mono.fromRunnable(ran::incrementAndGet)).subscribe();
    }
    first.tryEmitEmpty();
    assertThat(ran).hasValue(20_000);
    assertThat(turns.count()).isZero();
  }

  @Test
  void stepsOfManyThreads_neverMeet() {
    int[] unguarded = new int[1];
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger met = new AtomicInteger();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      CompletableFuture<?>[] all = new CompletableFuture<?>[4];
      for (int i = 0; i < all.length; i++) {
        all[i] = CompletableFuture.runAsync(() -> {
          for (int j = 0; j < 2_000; j++) {
            turns.run("a", Mono.fromRunnable(() -> {
              met.addAndGet(inside.getAndIncrement());
              unguarded[0]++;
              inside.decrementAndGet();
            })).block();
          }
        }, threads);
      }
      CompletableFuture.allOf(all).join();
    }
    assertThat(met).hasValue(0);
    assertThat(unguarded[0]).isEqualTo(8_000);
    assertThat(turns.count()).isZero();
  }

  @Test
  void writerThatGivesWay_waitsUntilAnotherHasStored() {
    NameTurns.Turn first = turns.enter("a");
    first.write();
    NameTurns.Turn second = turns.enter("a");
    second.write();
    second.giveWay();
    second.others().subscribe(end -> {}, failure -> {}, () -> done.add("second goes on"));
    assertThat(done).isEmpty();
    first.stored();
    first.leave();
    assertThat(done).containsExactly("second goes on");
    assertThat(second.isOvertaken()).isTrue();
    second.leave();
    assertThat(turns.count()).isZero();
  }

  @Test
  void writersThatGiveWay_doNotWaitForEachOther_norForOneThatFails() {
    NameTurns.Turn first = turns.enter("a");
    first.write();
    for (String each : List.of("second", "third")) {
      NameTurns.Turn turn = turns.enter("a");
      turn.write();
      turn.giveWay();
      turn.others().doFinally(end -> turn.leave()).subscribe(end -> {}, failure -> {},
          () -> done.add(each + ' ' + turn.isOvertaken()));
    }
    assertThat(done).isEmpty();
    first.leave();
    assertThat(done).containsExactly("second false", "third false");
    assertThat(turns.count()).isZero();
  }
}
