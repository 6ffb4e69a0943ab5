package io.penstock.examples.spring;

import io.micrometer.context.ContextRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/// A Spring Boot application that serves a cache of KV blocks to engines, and uses it itself. `/actuator/prometheus`
/// has the meters, `/actuator/health` the state, and traces of HTTP requests go on into the node.
@SpringBootApplication
public class CacheApplication {
  public static void main(String... arguments) {
    SpringApplication.run(CacheApplication.class, arguments);
  }

  @Bean
  CacheNode cacheNode(MeterRegistry registry, @Value("${penstock.port}") int port,
      @Value("${penstock.blocks}") long blocks) {
    return new CacheNode(registry, port, blocks);
  }

  @Bean
  TraceAccessor traceAccessor(Tracer tracer) {
    TraceAccessor accessor = new TraceAccessor(tracer);
    ContextRegistry.getInstance().registerThreadLocalAccessor(accessor);
    return accessor;
  }
}
