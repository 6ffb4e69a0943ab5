package io.penstock.node.admin;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The open connections of the admin endpoints, of which there is a maximum number. For one more, the oldest of the
/// address that has most of them makes way; one that has not asked yet goes before one that has. So a probe finds a
/// place among strangers, silent or not. Safe from any thread.
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
        open.remove(leaves);
      }
    }
    if (leaves != null) {
      LOG.warn("admin connections must be <= {} (were more): the oldest of the address with most was closed", most);
      leaves.close();
    }
  }

  synchronized void leave(AdminConnection connection) {
    open.remove(connection);
  }

  synchronized int count() {
    return open.size();
  }

  @GuardedBy("this") private AdminConnection firstToLeave() {
    List<AdminConnection> waiting = open.stream().filter(AdminConnection::isWaiting).toList();
    return oldestOfMost(waiting.size() > 1 ? waiting : List.copyOf(open)); // one that waits may just have come
  }

  private static AdminConnection oldestOfMost(List<AdminConnection> some) {
    Map<Object, Integer> counts = new HashMap<>();
    some.forEach(each -> counts.merge(each.source(), 1, Integer::sum));
    int largest = Collections.max(counts.values());
    return some.stream().filter(each -> counts.getOrDefault(each.source(), 0) == largest).findFirst().orElseThrow();
  }
}
