package io.penstock.node.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.disagg.plan.TransferPlan;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Pictures of unlike topologies: every text stays inside the picture and clear of other texts, every box and arrow
/// inside the picture.
final class PlanPictureTest {
  private static final Pattern TEXT = Pattern.compile("<text class=\"[a-z]+\" x=\"(\\d+)\" y=\"(\\d+)\""
      + " font-size=\"(\\d+)\"( text-anchor=\"end\")?>([^<]*)<");
  private static final Pattern BOX = Pattern
      .compile("<rect class=\"[a-z]+\" x=\"(\\d+)\" y=\"(\\d+)\" width=\"(\\d+)\" height=\"(\\d+)\"");
  private static final Pattern SIZE = Pattern.compile("viewBox=\"0 0 (\\d+) (\\d+)\"");

  /// A text as it stands in the picture.
  private record Placed(double left, double right, double top, double bottom, String text) {
    static Placed of(MatchResult text) {
      double size = Double.parseDouble(text.group(3));
      String letters = text.group(5).replaceAll("&[a-z#0-9]+;", "_");
      double width = SvgText.width(letters, size);
      double x = Double.parseDouble(text.group(1));
      double y = Double.parseDouble(text.group(2));
      double left = text.group(4) == null ? x : x - width;
      return new Placed(left, left + width, y - size, y, text.group(5));
    }

    boolean meets(Placed other) {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  }

  private static TransferPlan plan(String input) {
    return PlanInput.plan(Case.read(input.replace('\'', '"')).getFirst());
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "{'model': {'layers': 32, 'kvHeads': 8}, 'prefill': {'tp': 4, 'pp': 2}, 'decode': {'tp': 2}, 'request': {'id': 'a',"
        + " 'promptTokens': 300, 'cachedTokens': 16}}",
    "{'model': {'layers': 1000, 'kvHeads': 8}, 'prefill': {'tp': 2}, 'decode': {'tp': 8}, 'request': {'id':"
        + " 'ＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷＷ-0123456789-0123456789-0123456789-0123456789',"
        + " 'promptTokens': 1000000}}",
    "{'model': {'layers': 61, 'latentRank': 512}, 'prefill': {'tp': 8, 'pcp': 2, 'dcp': 2, 'pp': 2}, 'decode':"
        + " {'tp': 4, 'dcp': 2}, 'request': {'id': '<&>', 'promptTokens': 4000, 'cachedTokens': 100}}",
    "{'model': {'groups': [{'layers': [0, 2, 4, 6, 100, 102], 'kvHeads': 4}, {'layers': [1, 3, 5, 7], 'kvHeads': 2,"
        + " 'windowTokens': 32}]}, 'prefill': {'pp': 2}, 'decode': {}, 'request': {'id': 'r', 'promptTokens': 100}}",
    "{'model': {'layers': 2, 'kvHeads': 1}, 'prefill': {}, 'decode': {}, 'request': {'id': '', 'promptTokens': 9,"
        + " 'cachedTokens': 9}}",
    "{'model': {'layers': 64, 'kvHeads': 64}, 'prefill': {'tp': 64, 'pp': 64}, 'decode': {'tp': 4, 'pcp': 3},"
        + " 'request': {'id': 'many', 'promptTokens': 1000}}"})
  void everything_staysInsideThePicture_andTextsApart(String input) {
    String svg = PlanPicture.of(plan(input));
    MatchResult size = SIZE.matcher(svg).results().findFirst().orElseThrow();
    int width = Integer.parseInt(size.group(1));
    int height = Integer.parseInt(size.group(2));
    List<Placed> texts = TEXT.matcher(svg).results().map(Placed::of).toList();
    assertThat(texts).hasSize(svg.split("<text ", -1).length - 1).allSatisfy(text -> {
      assertThat(text.left()).isNotNegative();
      assertThat(text.right()).isLessThanOrEqualTo(width);
      assertThat(text.bottom()).isLessThanOrEqualTo(height);
    });
    for (int i = 0; i < texts.size(); i++) {
      assertThat(texts.subList(i + 1, texts.size()).stream().filter(texts.get(i)::meets).map(Placed::text))
          .as(texts.get(i).text()).isEmpty();
    }
    List<MatchResult> boxes = BOX.matcher(svg).results().toList();
    assertThat(boxes).hasSizeGreaterThanOrEqualTo(2 + 2).allSatisfy(box -> {
      assertThat(number(box, 1) + number(box, 3)).isLessThanOrEqualTo(width);
      assertThat(number(box, 2) + number(box, 4)).isLessThanOrEqualTo(height);
    });
    for (MatchResult box : boxes.subList(0, boxes.size() - 2)) { // the last are the legend's
      List<Placed> inside = texts.stream().filter(text -> text.left() == number(box, 1) + 8
          && text.top() >= number(box, 2) && text.bottom() <= number(box, 2) + number(box, 4)).toList();
      assertThat(inside).as("what a rank is").hasSize(3)
          .allSatisfy(text -> assertThat(text.right()).isLessThanOrEqualTo(number(box, 1) + number(box, 3)));
    }
  }

  private static int number(MatchResult found, int group) {
    return Integer.parseInt(found.group(group));
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 48})
  void manyTransfers_areCounted_whereTheyAreNotDrawn(int ranks) {
    String svg = PlanPicture.of(plan("{'model': {'layers': 48, 'kvHeads': 1}, 'prefill': {'pp': %d}, 'decode':"
        .formatted(ranks) + " {'tp': 16}, 'request': {'id': 'r', 'promptTokens': 1}}"));
    int arrows = svg.split("marker-end", -1).length - 1;
    assertThat(arrows).isEqualTo(PlanPicture.MOST_ARROWS);
    assertThat(svg.contains(ranks * 16 + " transfers; the first 256 are drawn")).isEqualTo(ranks == 48);
  }
}
