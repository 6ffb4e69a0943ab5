package io.penstock.node.serve;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.RankRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs the ranks of a registry that come, end, or are taken over.
final class LoggedRanks implements RankRegistry.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(LoggedRanks.class);

  @Override
  public void registered(Registered now) {
    LOG.info("rank {} is registered at {}", now.who(), now.endpoint());
  }

  @Override
  public void gone(Incarnation who) {
    LOG.warn("rank {} is gone", who);
  }

  @Override
  public void replaced(Registered before, Registered now) {
    LOG.warn("rank {} is taken over: generation {} at {} after generation {} at {}", now.who().rank(),
        now.who().generation(), now.endpoint(), before.who().generation(), before.endpoint());
  }
}
