package io.penstock.pool.evict;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.pool.EvictionOrderTest;
import io.penstock.pool.Ledger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which blocks leave a pool that knows sessions.
@Timeout(30)
final class SessionOrderTest {
  private static final SpaceId SPACE = EvictionOrderTest.key(0).space();
  private static final SessionUse A = use("a");
  private static final SessionUse B = use("b");
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private long nanos;
  private final Ledger<Long> ledger = new Ledger<>(SPACE, EvictionPolicy.SESSIONS, 100);
  private final SessionOrder sessions = requireNonNull(ledger.sessions());

  private SessionOrderTest() {
    bounds(new SessionBounds(8, 0.5, 1, MINUTE, MINUTE.multipliedBy(10)));
  }

  private void bounds(SessionBounds bounds) {
    sessions.bounds(bounds, () -> nanos);
  }

  private static SessionUse use(String name) {
    return SessionUse.of(SessionId.of(name));
  }

  private static SessionUse use(String name, int priority, @Nullable Duration keep) {
    return new SessionUse(SessionId.of(name), priority, keep);
  }

  /// A request for the keys from `from` to before `to`.
  private void turn(@Nullable SessionUse use, long from, long to) {
    sessions.begin(use, true);
    for (long id = from; id < to; id++) {
      int position = (int) (id - from);
      if (ledger.touch(EvictionOrderTest.key(id), position, (key, value, level) -> {}) == null) {
        ledger.insert(EvictionOrderTest.key(id), id, position, (key, value, level) -> {});
      }
    }
    sessions.finish();
  }

  private long count(long from, long to) {
    return LongStream.range(from, to).filter(id -> ledger.level(EvictionOrderTest.key(id)) == 0).count();
  }

  /// The keys of a session, in pages.
  private List<BlockKey> listed(String name, int most) {
    List<BlockKey> all = new ArrayList<>();
    SessionPage page = ledger.sessionKeys(SessionId.of(name), null, most);
    while (page != null) {
      assertThat(page.keys()).isNotEmpty();
      all.addAll(page.keys());
      page = page.next() == null ? null : ledger.sessionKeys(SessionId.of(name), page.next(), most);
    }
    return all;
  }

  private static List<BlockKey> keys(long from, long to) {
    return LongStream.range(from, to).mapToObj(EvictionOrderTest::key).toList();
  }

  @Test
  void keysOfASession_areListedInPages_alsoThoseThatOthersUsedSince() {
    turn(A, 0, 10);
    for (int most : new int[] {1, 3, 10, 11}) {
      assertThat(listed("a", most)).as("pages of %d", most).containsExactlyElementsOf(keys(0, 10));
    }
    turn(B, 0, 4); // a common prefix
    turn(B, 20, 23);
    assertThat(listed("a", 3)).containsExactlyInAnyOrderElementsOf(keys(0, 10));
    assertThat(listed("b", 3)).containsExactlyInAnyOrder(Stream.concat(keys(0, 4).stream(), keys(20, 23).stream())
        .toArray(BlockKey[]::new));
    turn(A, 0, 10);
    assertThat(listed("a", 4)).as("each once").containsExactlyInAnyOrderElementsOf(keys(0, 10));
    assertThat(ledger.sessionKeys(SessionId.of("b"), EvictionOrderTest.key(0), 4)).as("not its own any more").isNull();
    assertThat(ledger.sessionKeys(SessionId.of("never"), null, 4)).isNull();
    sessions.state(A, SessionState.ENDED);
    turn(B, 30, 130);
    assertThat(listed("a", 4).stream().filter(key -> ledger.level(key) == 0)).as("evicted").isEmpty();
  }

  @Test
  void pausedSession_keepsItsBlocks_whateverComes() {
    turn(A, 0, 40);
    sessions.state(A, SessionState.PAUSED);
    turn(null, 1_000, 3_000);
    assertThat(count(0, 40)).isEqualTo(40);
    nanos = Duration.ofMinutes(9).toNanos();
    turn(B, 100, 140);
    turn(null, 3_000, 4_000);
    assertThat(count(0, 40)).as("its time is not over").isEqualTo(40);
    nanos = Duration.ofMinutes(11).toNanos();
    turn(null, 4_000, 6_000);
    assertThat(count(0, 40)).as("its time is over").isLessThan(5);
  }

  @Test
  void endedSession_leavesFirst_andNoPrefixOfAnother() {
    turn(A, 0, 30);
    turn(B, 0, 10); // the same prefix
    turn(B, 30, 60);
    turn(A, 0, 30);
    assertThat(sessions.state(A, SessionState.ENDED)).isTrue();
    turn(null, 1_000, 1_060);
    assertThat(count(10, 30)).as("blocks of the ended session alone").isZero();
    assertThat(count(0, 10)).as("the prefix that b uses, too").isEqualTo(10);
    assertThat(count(30, 60)).isEqualTo(30);
    turn(null, 2_000, 3_000);
    assertThat(count(0, 10) + count(30, 60)).as("what b needs is kept").isEqualTo(40);
  }

  @Test
  void prefixWithoutALiveSession_isLowered_notDeleted() {
    turn(A, 0, 10);
    turn(B, 0, 10);
    sessions.state(A, SessionState.ENDED);
    sessions.state(B, SessionState.ENDED);
    assertThat(count(0, 10)).isEqualTo(10);
    turn(use("c"), 10, 60);
    turn(null, 1_000, 1_041);
    assertThat(count(0, 10)).as("one of them left at most, for 101 blocks").isGreaterThanOrEqualTo(9);
  }

  @Test
  void lowerPriority_leavesFirst_andTheLowestEnd_ofAPrompt() {
    turn(use("low", 1, null), 0, 50);
    turn(use("high", 6, null), 100, 150);
    turn(use("middle", 3, null), 200, 230);
    assertThat(count(100, 150)).isEqualTo(50);
    assertThat(count(200, 230)).isEqualTo(30);
    assertThat(count(0, 20)).as("the start of the prompt of the lowest").isEqualTo(20);
    assertThat(count(20, 50)).isZero();
  }

  @Test
  void sessionAboveItsShare_losesOnlyWhatIsAbove() {
    bounds(new SessionBounds(8, 0.3, 1, MINUTE, MINUTE));
    turn(A, 0, 90);
    turn(B, 100, 120);
    turn(null, 1_000, 1_500);
    assertThat(count(100, 120)).isEqualTo(20);
    assertThat(count(0, 90)).as("its share is kept").isBetween(30L, 31L);
    assertThat(count(0, 30)).as("the start of the prompt").isEqualTo(30);
  }

  @Test
  void partOfAllSessions_isBounded_soThatOthersHaveTheRest() {
    bounds(new SessionBounds(100, 0.1, 0.6, MINUTE, MINUTE));
    for (int i = 0; i < 10; i++) {
      turn(use("s" + i), 10L * i, 10L * i + 10);
    }
    turn(null, 1_000, 1_200);
    assertThat(sessions.keptRows()).isBetween(59L, 61L);
    assertThat(count(1_000, 1_200)).isBetween(39L, 41L);
  }

  @Test
  void sessions_areBounded_andEndedOnesGiveWay() {
    for (int i = 0; i < 8; i++) {
      turn(use("s" + i), 10L * i, 10L * i + 5);
    }
    turn(use("ninth"), 500, 505);
    assertThat(sessions.sessions()).isEqualTo(8);
    assertThat(sessions.refused()).isEqualTo(1);
    assertThat(sessions.state(use("ninth"), SessionState.PAUSED)).as("known").isFalse();
    assertThat(count(500, 505)).as("served without a session").isEqualTo(5);
    sessions.state(use("s3"), SessionState.ENDED);
    turn(use("ninth"), 500, 505);
    assertThat(sessions.state(SessionId.of("s3"))).isNull();
    assertThat(sessions.state(SessionId.of("ninth"))).isEqualTo(SessionState.ACTIVE);
    assertThat(count(30, 35)).as("blocks of the session that gave way").isEqualTo(5);
  }

  @Test
  void branchThatNoTurnUses_leavesBeforeTheRest() {
    turn(A, 0, 60);
    for (int i = 0; i < 6; i++) {
      turn(A, 0, 20);
    }
    bounds(new SessionBounds(8, 0.01, 1, MINUTE, MINUTE));
    turn(A, 0, 20);
    turn(null, 1_000, 1_080);
    assertThat(count(0, 20)).isEqualTo(20);
    assertThat(count(20, 60)).isLessThan(5);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void callsAtRandom_leaveExactlyTheRowsThatAreThere(long seed) {
    Random random = new Random(seed);
    bounds(new SessionBounds(5, 0.2, 0.7, Duration.ofSeconds(2), Duration.ofSeconds(20)));
    for (int i = 0; i < 2_000; i++) {
      nanos += random.nextInt(1_000_000_000);
      SessionUse use = use("s" + random.nextInt(9), random.nextInt(8), null);
      long from = 40L * random.nextInt(12);
      switch (random.nextInt(8)) {
        case 0 -> sessions.state(use, SessionState.values()[random.nextInt(3)]);
        case 1 -> ledger.remove(EvictionOrderTest.key(from + random.nextInt(40)));
        case 2 -> turn(null, from, from + random.nextInt(40));
        default -> turn(use, from, from + random.nextInt(40));
      }
      assertThat(ledger.size()).as("seed %d, step %d", seed, i).isBetween(0, 100);
      assertThat(sessions.sessions()).isLessThanOrEqualTo(5);
      assertThat(sessions.keptRows()).isBetween(0L, (long) ledger.size());
    }
    nanos += Duration.ofHours(1).toNanos();
    for (long id = 10_000; id < 20_000; id++) {
      turn(null, id, id + 1);
    }
    assertThat(sessions.keptRows()).isZero();
    assertThat(count(0, 10_000)).as("seed %d: blocks that no session keeps any more", seed).isZero();
    assertThat(ledger.size()).isEqualTo(100);
  }

  @Test
  void badValues_areRefusedByName() {
    assertThatThrownBy(() -> SessionId.of(new byte[65])).hasMessage("session must be of 1 to 64 bytes (was 65)");
    assertThatThrownBy(() -> use("a", 8, null)).hasMessage("priority must be in [0, 7] (was 8)");
    assertThatThrownBy(() -> use("a", 0, Duration.ofHours(2))).hasMessage("keep must be in [0, 3600 s] (was PT2H)");
  }
}
