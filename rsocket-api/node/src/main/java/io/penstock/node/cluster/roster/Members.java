package io.penstock.node.cluster.roster;

import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.link.NodeLink;
import io.penstock.node.link.NodePass;
import io.penstock.node.text.Reason;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// The members of a cluster as a command reaches them, with one connection a question. Each question waits, for the
/// patience of the command at most, and throws [UnavailableException] if none answers.
///
/// @param first a member that is told
/// @param pass shown to each
record Members(Dialer dialer, Endpoint first, NodePass pass, Duration patience) {
  private static final Logger LOG = LoggerFactory.getLogger(Members.class);

  /// The cluster as the first member sees it.
  ClusterView view() {
    return asked(first, ClusterLink::members);
  }

  /// The member of that name.
  ///
  /// @throws UnavailableException if there is none
  Member named(String name) {
    List<Member> all = view().members();
    return all.stream().filter(member -> member.name().equals(name)).findFirst()
        .orElseThrow(() -> new UnavailableException("node must be a member, one of %s (was %s)"
            .formatted(String.join(", ", all.stream().map(Member::name).toList()), name)));
  }

  /// The members whose blocks a task is about.
  ///
  /// @param from name of the only one; empty for all
  /// @param to name of the one that gets the blocks, which is none of them; empty for none
  List<Member> sources(String from, String to) {
    if (!to.isEmpty()) {
      named(to);
    }
    return from.isEmpty()
        ? view().members().stream().filter(member -> !member.name().equals(to)).toList()
        : List.of(named(from));
  }

  /// The answer of `member`, at the first of its endpoints that has one.
  <T> T at(Member member, Function<ClusterLink, Mono<T>> question) {
    UnavailableException silent = null;
    for (String place : member.endpoints()) {
      Endpoint known = known(place);
      if (known == null) {
        continue;
      }
      try {
        return asked(known, question);
      } catch (UnavailableException e) {
        silent = e;
      }
    }
    throw unreached(member, silent);
  }

  /// Null for a form that a later release may tell.
  private static @Nullable Endpoint known(String place) {
    try {
      return Endpoint.parse(place);
    } catch (IllegalArgumentException e) {
      LOG.debug("an endpoint of a member has a form that is unknown here", e);
      return null;
    }
  }

  private static UnavailableException unreached(Member member, @Nullable UnavailableException last) {
    return last == null
        ? new UnavailableException("member must tell an endpoint of a form that is known here (%s tells %s)"
            .formatted(member.name(), member.endpoints()))
        : last;
  }

  private <T> T asked(Endpoint place, Function<ClusterLink, Mono<T>> question) {
    NodeAddress to = NodeAddress.of(place, null).shown(pass);
    try (NodeLink link = dialer.dialNode(to, NodeConfig.defaults(), patience)) {
      return Answers.of(question.apply(link.cluster()), patience);
    } catch (ConnectionLostException e) {
      throw new UnavailableException("the connection to the node at " + to + " ended (" + Reason.ofCause(e) + ")", e);
    }
  }
}
