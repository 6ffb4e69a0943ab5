package io.penstock.node.replay;

import reactor.core.publisher.Mono;

/// Who keeps: the node, as far as a replay looks into it.
interface NodeParty {
  Mono<PartyStat> stat();
}
