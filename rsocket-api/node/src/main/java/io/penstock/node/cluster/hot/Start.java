package io.penstock.node.cluster.hot;

import io.penstock.wire.cluster.Member;

/// One start of a member: a copy goes with it.
record Start(String name, long generation) {
  static Start of(Member member) {
    return new Start(member.name(), member.generation());
  }
}
