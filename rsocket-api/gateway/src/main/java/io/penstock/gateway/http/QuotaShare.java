package io.penstock.gateway.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.node.text.Reason;
import io.penstock.wire.cluster.GatewayUse;
import io.penstock.wire.cluster.GatewayUse.OfTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes the quotas of tenants hold over several gateways. Each tells what its tenants have used and what is left, and
/// charges what the others tell. So together they let through what the quotas say, and what is used between two
/// tellings. A gateway that is heard for the first time also says how much is left at most, so that one which begins,
/// or was alone, has no quota of its own. Without a node that carries the tellings, quotas hold at this gateway alone.
/// Safe from any thread.
public final class QuotaShare {
  private static final Logger LOG = LoggerFactory.getLogger(QuotaShare.class);
  /// After that without an answer the others are not counted.
  private static final long SILENCE_NANOS = Duration.ofSeconds(5).toNanos();

  /// What another gateway said of a tenant, last.
  private record Key(String gateway, String tenant) {}

  private final String name;
  private final ApiKeys keys;
  private final LongSupplier nanos;
  @GuardedBy("this") private final Map<Key, OfTenant> heard = new HashMap<>();
  @GuardedBy("this") private List<GatewayUse> others = List.of();
  @GuardedBy("this") private boolean isShared;
  @GuardedBy("this") private boolean isSaid;
  @GuardedBy("this") private long heardNanos;
  @GuardedBy("this") private long number;

  /// @param name of this start of the gateway, which no other has
  /// @param nanos the clock of quotas
  public QuotaShare(String name, ApiKeys keys, LongSupplier nanos) {
    this.name = name;
    this.keys = keys;
    this.nanos = nanos;
  }

  String name() {
    return name;
  }

  /// What this gateway tells.
  ///
  /// @param url where its clients ask
  public synchronized GatewayUse told(String url) {
    long now = nanos.getAsLong();
    List<OfTenant> uses = new ArrayList<>();
    for (Tenant tenant : keys.tenants()) {
      Quota quota = keys.quota(tenant);
      if (quota.isLimited() && !tenant.isIdle(quota, now) && uses.size() < GatewayUse.MOST_TENANTS) {
        uses.add(tenant.use(quota, now));
      }
    }
    return new GatewayUse(name, url, number++, uses);
  }

  /// Takes what the others said last.
  public synchronized void heard(List<GatewayUse> now) {
    heardNanos = nanos.getAsLong();
    if (!isShared) {
      LOG.info("quotas are shared with other gateways");
    }
    isShared = true;
    isSaid = true;
    Set<Key> there = new HashSet<>();
    Map<String, Long> running = new HashMap<>();
    for (GatewayUse gateway : now) {
      for (OfTenant use : gateway.tenants()) {
        there.add(take(new Key(gateway.gateway(), use.name()), use));
        running.merge(use.name(), (long) use.running(), Long::sum);
      }
    }
    heard.keySet().retainAll(there);
    keys.tenants().forEach(tenant -> tenant.elsewhere(running.getOrDefault(tenant.name(), 0L)));
    others = List.copyOf(now);
  }

  @GuardedBy("this") private Key take(Key key, OfTenant use) {
    Tenant tenant = keys.named(key.tenant());
    Quota quota = keys.quota(tenant);
    OfTenant before = heard.put(key, use);
    if (before == null) {
      tenant.atMost(quota, heardNanos, use.requestsLeft(), use.tokensLeft());
    } else {
      tenant.charge(quota, heardNanos, Math.max(0, use.requests() - before.requests()),
          Math.max(0, use.tokens() - before.tokens()));
    }
    return key;
  }

  /// No node carried what was told.
  public synchronized void lost(Throwable why) {
    if (isShared && nanos.getAsLong() - heardNanos <= SILENCE_NANOS) {
      return;
    }
    if (isShared || !isSaid) {
      LOG.warn("quotas hold at this gateway alone: {}", Reason.of(why));
    }
    isShared = false;
    isSaid = true;
    heard.clear();
    others = List.of();
    keys.tenants().forEach(tenant -> tenant.elsewhere(0));
  }

  /// Whether quotas are shared now.
  synchronized boolean isShared() {
    return isShared;
  }

  /// What the other gateways said last.
  synchronized List<GatewayUse> others() {
    return others;
  }
}
