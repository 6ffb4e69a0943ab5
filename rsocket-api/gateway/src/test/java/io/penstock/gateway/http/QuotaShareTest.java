package io.penstock.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.api.ApiException;
import io.penstock.wire.cluster.GatewayBoard;
import io.penstock.wire.cluster.GatewayUse;
import io.penstock.wire.security.Access;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Quotas over several gateways, in virtual time.
final class QuotaShareTest {
  private static final long MILLI = 1_000_000;
  private static final long TELLING = 1_000;

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private GatewayBoard board = new GatewayBoard(this::nanos);

  private long nanos() {
    return time.now(TimeUnit.NANOSECONDS);
  }

  private void pass(long millis) {
    time.advanceTimeBy(Duration.ofMillis(millis));
  }

  /// A gateway of which all tenants have the same quota.
  private final class Peer {
    final String name;
    final ApiKeys keys;
    final QuotaShare share;
    long telledMillis;

    Peer(String name, Quota quota) {
      this.name = name;
      this.keys = new ApiKeys(Access.open(), () -> new QuotaFile(Map.of("*", quota)), time, time);
      this.share = new QuotaShare(name, keys, QuotaShareTest.this::nanos);
      tell();
    }

    void tell() {
      share.heard(board.tell(share.told("http://" + name)));
    }

    boolean begin(String tenant) {
      Tenant asked = keys.named(tenant);
      try {
        asked.begin(keys.quota(asked), nanos());
        return true;
      } catch (ApiException refused) {
        assertThat(refused.status()).isEqualTo(429);
        return false;
      }
    }

    void end(String tenant, long tokens) {
      keys.named(tenant).end(tokens);
    }
  }

  private static Quota quota(long requests, long tokens, int parallel) {
    return new Quota(requests, tokens, parallel, 4);
  }

  @Test
  void requestsAndTokens_thatOthersUsed_areUsedHereToo() {
    Quota quota = quota(10, 1000, 99);
    Peer one = new Peer("one", quota);
    Peer other = new Peer("other", quota);
    for (int i = 0; i < 6; i++) {
      assertThat(one.begin("t")).isTrue();
    }
    one.end("t", 400);
    one.tell();
    other.tell();
    for (int i = 0; i < 4; i++) {
      assertThat(other.begin("t")).isTrue();
    }
    assertThat(other.begin("t")).isFalse();
    assertThat(other.begin("another")).isTrue();
    other.end("t", 600);
    other.tell();
    one.tell();
    assertThat(one.begin("t")).isFalse();
    pass(12_000); // two requests flow back at both, and are two together
    assertThat(one.begin("t")).isTrue();
    one.tell();
    other.tell();
    assertThat(other.begin("t")).isTrue();
    assertThat(other.begin("t")).isFalse();
  }

  @Test
  void requestsAtATime_areThoseOfAll_untilAGatewayIsGone() {
    Quota quota = quota(1000, 1000, 3);
    Peer one = new Peer("one", quota);
    Peer other = new Peer("other", quota);
    one.begin("t");
    one.begin("t");
    one.tell();
    other.tell();
    assertThat(other.begin("t")).isTrue();
    assertThat(other.begin("t")).isFalse();
    one.end("t", 0);
    one.tell();
    other.tell();
    assertThat(other.begin("t")).isTrue();
    assertThat(other.begin("t")).isFalse();
    pass(5_001); // one has said nothing since
    other.tell();
    assertThat(other.share.others()).isEmpty();
    assertThat(other.begin("t")).isTrue();
  }

  @Test
  void aGatewayThatBegins_hasNoQuotaOfItsOwn() {
    Quota quota = quota(10, 1000, 99);
    Peer one = new Peer("one", quota);
    for (int i = 0; i < 9; i++) {
      one.begin("t");
    }
    one.tell();
    Peer late = new Peer("late", quota);
    assertThat(late.begin("t")).isTrue();
    assertThat(late.begin("t")).isFalse();
  }

  @Test
  void aGatewayThatIsAlone_countsItsOwn_andIsOneOfAllAgainLater() {
    Quota quota = quota(10, 1000, 2);
    Peer one = new Peer("one", quota);
    Peer other = new Peer("other", quota);
    one.begin("t");
    one.begin("t");
    one.tell();
    other.tell();
    assertThat(other.begin("t")).isFalse();
    other.share.lost(new IOException("away"));
    assertThat(other.share.isShared()).as("not yet").isTrue();
    pass(5_001);
    other.share.lost(new IOException("away"));
    assertThat(other.share.isShared()).isFalse();
    assertThat(other.begin("t")).isTrue();
    one.tell();
    other.tell();
    assertThat(other.share.isShared()).isTrue();
    assertThat(other.begin("t")).isFalse();
  }

  @Test
  void tenantsWithoutAQuota_orWithAllOfIt_areNotTold() {
    Peer one = new Peer("one", quota(10, 1000, 2));
    one.keys.named("idle");
    assertThat(one.share.told("").tenants()).isEmpty();
    one.begin("t");
    assertThat(one.share.told("").tenants()).extracting(GatewayUse.OfTenant::name).containsExactly("t");
    Peer open = new Peer("open", Quota.UNLIMITED);
    open.begin("t");
    assertThat(open.share.told("").tenants()).isEmpty();
  }

  @Test
  void aTelling_travelsWhole_andBytesThatAreNoneAreRefused() {
    GatewayUse use = new GatewayUse("g", "http://g", 7,
        List.of(new GatewayUse.OfTenant("ä", 1, 2, 3, -0.5, 4), new GatewayUse.OfTenant("b", 0, 0, 0, 1e9, 2)));
    assertThat(GatewayUse.of("g", "http://g", 7, use.packed())).isEqualTo(use);
    assertThatThrownBy(() -> GatewayUse.of("g", "", 7, new byte[] {0, 1})).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> GatewayUse.of("", "", 7, new byte[0])).isInstanceOf(IllegalArgumentException.class);
  }

  /// More than the quota goes through only as far as gateways had not told each other yet.
  @Test
  void gatewaysTogether_letThroughTheQuota_andWhatIsUsedBetweenTwoTellings() {
    for (long seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      board = new GatewayBoard(this::nanos);
      Quota quota = quota(60 + random.nextInt(240), 1 << 30, 1 << 20);
      List<Peer> peers = new ArrayList<>();
      String run = seed + "-";
      for (int i = 0; i < 2 + random.nextInt(3); i++) {
        peers.add(new Peer(run + i, quota));
      }
      long begun = nanos();
      long all = 0;
      long mostBetween = 0;
      Deque<Long> recent = new ArrayDeque<>();
      for (int step = 0; step < 3_000; step++) {
        pass(random.nextInt(20));
        Peer peer = peers.get(random.nextInt(peers.size()));
        if (random.nextInt(1_000) == 0) { // it begins again
          peers.remove(peer);
          peer = new Peer(run + "again" + step, quota);
          peers.add(peer);
        }
        long now = nanos() / MILLI;
        for (Peer each : peers) {
          if (now - each.telledMillis >= TELLING) {
            each.telledMillis = now;
            each.tell();
          }
        }
        if (peer.begin("t")) {
          peer.end("t", 0);
          all++;
          recent.add(now);
        }
        while (!recent.isEmpty() && now - recent.getFirst() > 2 * TELLING) { // told, and then heard
          recent.removeFirst();
        }
        mostBetween = Math.max(mostBetween, recent.size());
        double due = quota.requests() * (1 + (nanos() - begun) / 60e9);
        assertThat((double) all).as("seed " + seed + ", step " + step).isLessThanOrEqualTo(due + mostBetween + 1);
      }
      assertThat((double) all).as("seed " + seed + ": what is allowed goes through")
          .isGreaterThanOrEqualTo(Math.min(2_500, quota.requests() * 0.9));
    }
  }
}
