package io.penstock.wire.server;

import io.penstock.wire.protocol.WireErrors;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.util.RSocketProxy;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One connection whose control messages are JSON: the values of its errors are JSON too, so that its client needs no
/// reader of CBOR.
final class JsonErrors extends RSocketProxy {
  JsonErrors(RSocket served) {
    super(served);
  }

  @Override
  public Mono<Payload> requestResponse(Payload payload) {
    return super.requestResponse(payload).onErrorMap(WireErrors::inJson);
  }

  @Override
  public Flux<Payload> requestStream(Payload payload) {
    return super.requestStream(payload).onErrorMap(WireErrors::inJson);
  }

  @Override
  public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
    return super.requestChannel(payloads).onErrorMap(WireErrors::inJson);
  }
}
