package io.penstock.pool.evict;

/// The rows of each session, in a ring from the row that was used longest ago to the one that was used last: within a
/// turn, in the order of the prompt. A row is of one session at most.
final class SessionRows {
  private final RowLinks links = new RowLinks();
  /// Number of the session of each row, plus one; 0 for none.
  private final IntColumn owners = new IntColumn();
  /// The first row of each session, plus one; 0 for none.
  private final IntColumn firsts = new IntColumn();
  private final IntColumn sizes = new IntColumn();

  /// Number of the session of `row`; [KeyTable#NONE] for none.
  int owner(int row) {
    return owners.get(row) - 1;
  }

  int size(int session) {
    return sizes.get(session);
  }

  /// The first row of `session`, which has one.
  int first(int session) {
    return firsts.get(session) - 1;
  }

  /// The last row of `session`, which has one.
  int last(int session) {
    return links.before(first(session));
  }

  /// The row after `row` in the ring of its session.
  int after(int row) {
    return links.after(row);
  }

  /// The row before `row` in the ring of its session.
  int before(int row) {
    return links.before(row);
  }

  /// Adds `row`, which is of no session, behind the last row of `session`.
  void addLast(int session, int row) {
    add(session, row);
    if (sizes.get(session) == 1) {
      firsts.set(session, row + 1);
    }
  }

  /// Adds `row`, which is of no session, before the first row of `session`.
  void addFirst(int session, int row) {
    add(session, row);
    firsts.set(session, row + 1);
  }

  private void add(int session, int row) {
    owners.set(row, session + 1);
    links.add(row);
    if (sizes.get(session) > 0) {
      int first = first(session);
      links.join(links.before(first), row);
      links.join(row, first);
    }
    sizes.set(session, sizes.get(session) + 1);
  }

  /// Takes `row` from its session.
  void remove(int row) {
    int session = owner(row);
    int after = links.after(row);
    links.join(links.before(row), after);
    sizes.set(session, sizes.get(session) - 1);
    if (first(session) == row) {
      firsts.set(session, sizes.get(session) == 0 ? 0 : after + 1);
    }
    owners.set(row, 0);
  }

  void clear() {
    links.clear();
    owners.clear();
    firsts.clear();
    sizes.clear();
  }
}
