package io.penstock.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.Environment;

@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "penstock.port=0")
final class CacheApplicationTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PROMPT =
      IntStream.range(0, 70).mapToObj(String::valueOf).collect(Collectors.joining(",", "[", "]"));

  private final HttpClient http = HttpClient.newHttpClient();
  private final int port;

  CacheApplicationTest(@Autowired Environment environment) {
    port = environment.getRequiredProperty("local.server.port", Integer.class);
  }

  @Test
  void prompt_isStoredAndLoaded_andSeenInMetersHealthAndTraces(CapturedOutput output) throws Exception {
    assertThat(post("/decode")).as("nothing yet").isEqualTo("0");
    assertThat(post("/prefill")).as("blocks of 16 tokens").isEqualTo("4");
    assertThat(post("/decode")).isEqualTo(String.valueOf(4 * 65_536));

    assertThat(output).as("no event loop waits for a bean").doesNotContain("singleton bean");
    assertThat(output).contains("put of 262144 bytes, trace 00-" + TRACE, "get of 262144 bytes, trace 00-" + TRACE);
    assertThat(get("/actuator/health").body()).contains("\"penstock\":{", "\"blocks\":4", "\"capacityBlocks\":1000");
    HttpResponse<String> metrics = get("/actuator/prometheus");
    assertThat(metrics.statusCode()).isEqualTo(200);
    assertThat(metrics.body()).contains("penstock_tier_visible_blocks{medium=\"host\",tier=\"dram\"} 4.0",
        "penstock_tier_stored_blocks_total{medium=\"host\",tier=\"dram\"} 4.0",
        "penstock_level_stored_blocks{", "penstock_arena_claimed_slots{arena=\"node\"} 4.0",
        "penstock_arena_claimed_slots{arena=\"client\"} 0.0", "penstock_budget_capacity_bytes{budget=\"node\"}",
        "penstock_budget_in_flight_bytes{budget=\"client\"} 0.0", "penstock_wire_connections 1.0",
        "penstock_wire_connects_total{transport=\"tcp\"} 1.0",
        "penstock_stream_carried_bytes_total{carrier=\"inline\",route=\"get\"} 262144.0",
        "penstock_stream_waited_seconds_total{carrier=\"inline\",reason=\"tier\",route=\"put\"}");
  }

  private String post(String path) throws IOException, InterruptedException {
    HttpRequest request = request(path).header("content-type", "application/json")
        .header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01").POST(BodyPublishers.ofString(PROMPT)).build();
    HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(request(path).build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(SOON);
  }
}
