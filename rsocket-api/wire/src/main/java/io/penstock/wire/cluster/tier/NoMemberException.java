package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.wire.cluster.Member;
import java.util.List;

/// No member of the cluster can take new blocks: all drain, or none can be reached. A retry can succeed.
public final class NoMemberException extends TransientKvException {
  NoMemberException(String cluster, List<Member> members) {
    super("cluster " + cluster + " must have a member that takes new blocks (was: " + members.size()
        + " members, none of them does)");
  }
}
