package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.wire.cluster.Member;

/// A member tells no endpoint of a form that this side knows.
final class NoEndpointException extends TransientKvException {
  NoEndpointException(Member member) {
    super("member " + member.name() + " must tell an endpoint of a form that is known here (tells "
        + member.endpoints() + ")");
  }
}
