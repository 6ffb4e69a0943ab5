package io.penstock.examples.spring;

import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/// `penstock` in `/actuator/health`: up while the node answers and each of its levels gives blocks.
@Component("penstock")
final class TierHealth extends AbstractReactiveHealthIndicator {
  private final CacheNode node;

  TierHealth(CacheNode node) {
    this.node = node;
  }

  @Override
  protected Mono<Health> doHealthCheck(Health.Builder health) {
    return node.remote().stat().map(stat -> {
      health.up();
      for (TierStat.Level level : stat.levels()) {
        health.withDetail(level.name(), level.health().state());
        if (level.health().state() == StoreHealth.State.OFF) {
          health.outOfService().withDetail(level.name() + " problem", String.valueOf(level.health().problem()));
        }
      }
      return health.withDetail("blocks", stat.blocks()).withDetail("capacityBlocks", stat.capacityBlocks()).build();
    });
  }
}
