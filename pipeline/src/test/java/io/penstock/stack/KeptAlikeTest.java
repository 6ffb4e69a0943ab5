package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// The terms with which blocks would be kept alike elsewhere, by a clock that the test moves.
final class KeptAlikeTest extends StackSteps {
  private static final SessionUse TALK = new SessionUse(SessionId.of("talk"), 5, Duration.ofSeconds(90));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = 1;
  private final TierStack stack = opened(8);

  private TierStack opened(int capacity) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", capacity)),
        StackOptions.defaults("stack").withIngressBlocks(4).withPolicy(EvictionPolicy.SESSIONS).withExact(false),
        TierListener.noop(), () -> now);
  }

  @AfterEach
  void close() {
    assertClosesClean(stack);
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private static List<BlockKey> keys(int... numbers) {
    return IntStream.of(numbers).mapToObj(StackSteps::key).toList();
  }

  private static List<PutTerms> terms(TierStack tier, int... numbers) {
    return requireNonNull(tier.terms(keys(numbers)).block(SOON));
  }

  private List<PutTerms> terms(int... numbers) {
    return terms(stack, numbers);
  }

  private static void put(TierStack tier, PutTerms terms, int... numbers) {
    try (BlockScope scope = new BlockScope()) {
      tier.reserve(keys(numbers), terms, scope).flatMap(room -> {
        room.drafts().forEach(Blocks::produce);
        return room.commit(room.drafts());
      }).block(SOON);
    }
  }

  private static void pin(TierStack tier, Pin pin, int... numbers) {
    try (TierHolds holds = tier.holds("me")) {
      holds.pin(keys(numbers), pin).block(SOON);
    }
  }

  @Test
  void blockThatNothingKeeps_andAMiss_havePlainTerms() {
    put(stack, PutTerms.plain(), 0);
    assertThat(terms(0, 1)).containsExactly(PutTerms.plain(), PutTerms.plain());
    assertThat(terms()).isEmpty();
  }

  @Test
  void pinsAndGroups_areInTheTerms_softOnesWithTheLifeThatIsLeft() {
    put(stack, PutTerms.plain().withGroup("together"), 0, 1);
    put(stack, PutTerms.plain(), 2, 3, 4);
    pin(stack, Pin.hard(), 1, 2);
    pin(stack, Pin.soft(Duration.ofSeconds(30)), 3);
    pass(Duration.ofSeconds(10));
    assertThat(terms(0, 1, 2, 3, 4)).containsExactly(PutTerms.plain().withGroup("together"),
        PutTerms.plain().withGroup("together").withPin(Pin.hard()), PutTerms.plain().withPin(Pin.hard()),
        PutTerms.plain().withPin(Pin.soft(Duration.ofSeconds(20))), PutTerms.plain());

    pass(Duration.ofSeconds(20));
    assertThat(terms(3)).as("its life is over").containsExactly(PutTerms.plain());
    pin(stack, Pin.none(), 2);
    assertThat(terms(2)).containsExactly(PutTerms.plain());
  }

  @Test
  void sessionThatKeepsABlock_isInItsTerms_untilItEndsOrIsForgotten() {
    put(stack, PutTerms.plain().withSession(TALK), 0, 1);
    put(stack, PutTerms.plain().withSession(SessionUse.of(SessionId.of("other"))), 2);
    assertThat(terms(0, 1, 2)).extracting(PutTerms::session)
        .containsExactly(TALK, TALK, SessionUse.of(SessionId.of("other")));

    pass(Duration.ofSeconds(89));
    assertThat(terms(0, 2)).extracting(PutTerms::session).as("the other one is forgotten").containsExactly(TALK, null);
    pass(Duration.ofSeconds(1));
    assertThat(terms(0)).containsExactly(PutTerms.plain());
    stack.session(TALK, SessionState.ACTIVE).block(SOON);
    assertThat(terms(0)).extracting(PutTerms::session).containsExactly(TALK);
    stack.session(TALK, SessionState.ENDED).block(SOON);
    assertThat(terms(0)).containsExactly(PutTerms.plain());
  }

  @Test
  void sessionThatPauses_statesTheTimeThatItIsKept() {
    SessionUse plain = SessionUse.of(SessionId.of("tool call"));
    put(stack, PutTerms.plain().withSession(plain), 0);
    stack.session(plain, SessionState.PAUSED).block(SOON);
    assertThat(terms(0)).extracting(PutTerms::session)
        .containsExactly(new SessionUse(plain.session(), plain.priority(), Duration.ofMinutes(10)));
  }

  @Test
  void askingForTerms_countsAsNoUse() {
    IntStream.range(0, 8).forEach(number -> put(stack, PutTerms.plain(), number));
    String asked = leaving(stack, true);
    TierStack other = opened(8);
    IntStream.range(0, 8).forEach(number -> put(other, PutTerms.plain(), number));
    assertThat(asked).isEqualTo(leaving(other, false)).contains("0");
    assertClosesClean(other);
  }

  private static String leaving(TierStack tier, boolean asks) {
    if (asks) {
      terms(tier, 0, 1, 2, 3, 4, 5, 6, 7);
      terms(tier, 0);
    }
    put(tier, PutTerms.plain(), 10, 11, 12);
    return present(tier, 0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void blockPutWithItsTerms_isKeptAlikeElsewhere() {
    put(stack, new PutTerms(Pin.soft(Duration.ofSeconds(40)), "together", false, Map.of(), TALK), 0);
    PutTerms before = terms(0).getFirst();
    TierStack other = opened(8);
    put(other, before, 0);
    assertThat(terms(other, 0)).containsExactly(before);
    assertClosesClean(other);
  }

  @Test
  void blockOfWhichTheLedgerHasANumber_staysOne_andTellsItsSession() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, 64, tasks::add);
    TierStack deep = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 2), new StackLevel.Stored(disk, 64)),
        StackOptions.defaults("deep").withIngressBlocks(2).withPolicy(EvictionPolicy.SESSIONS), TierListener.noop(),
        () -> now);
    put(deep, PutTerms.plain().withSession(TALK), 0);
    pin(deep, Pin.soft(Duration.ofSeconds(80)), 0);
    for (int number = 1; number < 5; number++) {
      put(deep, PutTerms.plain(), number);
      runTasks();
    }
    assertThat(terms(deep, 0))
        .containsExactly(PutTerms.plain().withSession(TALK).withPin(Pin.soft(Duration.ofSeconds(80))));
    pin(deep, Pin.none(), 0); // a number is enough now
    assertThat(terms(deep, 0, 1)).containsExactly(PutTerms.plain().withSession(TALK), PutTerms.plain());
    try (BlockScope scope = new BlockScope()) {
      assertThat(requireNonNull(deep.lease(keys(0), OnMiss.SKIP, scope).block(SOON)).found().count()).isEqualTo(1);
    }
    assertClosesClean(deep);
  }
}
