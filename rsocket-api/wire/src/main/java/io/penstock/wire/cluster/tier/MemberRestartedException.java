package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.wire.cluster.Member;

/// A member was reached in another start than the cluster told: its blocks are not those that were told.
final class MemberRestartedException extends TransientKvException {
  MemberRestartedException(Member member, long generation) {
    super("node " + member.name() + " must be in its start " + member.generation() + " (was in " + generation + ")");
  }
}
