package io.penstock.node.admin;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The open connections of the admin endpoints, of which there is a maximum number. For one more, the oldest that has
/// not asked yet makes way, of the address that has most of them: so a probe finds a place among silent strangers. Safe
/// from any thread.
final class AdminConnections {
  private static final Logger LOG = LoggerFactory.getLogger(AdminConnections.class);

  private final int most;
  @GuardedBy("this") private final Set<AdminConnection> open = new LinkedHashSet<>();

  AdminConnections(int most) {
    this.most = most;
  }

  void enter(AdminConnection connection) {
    AdminConnection leaves = null;
    synchronized (this) {
      open.add(connection);
      if (open.size() > most) {
        leaves = firstToLeave();
        if (leaves == null) { // all others are being answered
          leaves = connection;
        }
        open.remove(leaves);
      }
    }
    if (leaves != null) {
      LOG.warn("admin connections must be <= {} (were more): the oldest without a request was closed", most);
      leaves.close();
    }
  }

  synchronized void leave(AdminConnection connection) {
    open.remove(connection);
  }

  synchronized int count() {
    return open.size();
  }

  @GuardedBy("this") private @Nullable AdminConnection firstToLeave() {
    Map<Object, Integer> waiting = new HashMap<>();
    open.stream().filter(AdminConnection::isWaiting).forEach(each -> waiting.merge(each.source(), 1, Integer::sum));
    int largest = waiting.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return open.stream().filter(each -> each.isWaiting() && waiting.getOrDefault(each.source(), 0) == largest)
        .findFirst().orElse(null);
  }
}
