package io.penstock.node.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.EvictionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Lines of a chart must be told apart: by colour in both themes, and without colours by dashes and marks.
final class PaletteTest {
  /// Distance in OKLab. Neighbours of the nearest pair of a common palette of eight are 0.1 apart.
  private static final double APART = 0.1;

  @Test
  void everyPolicy_hasAColourAndAMarkOfItsOwn() {
    assertThat(colours()).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(EvictionPolicy.values().length);
    assertThat(words("POINTS")).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(EvictionPolicy.values().length);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void colours_areFarApart_andStandOutFromTheirGround(int theme) {
    int[] ground = colour("card", theme);
    List<String> names = colours();
    for (int i = 0; i < names.size(); i++) {
      int[] one = colour(names.get(i), theme);
      assertThat(contrast(one, ground)).as("contrast of %s", names.get(i)).isGreaterThanOrEqualTo(3);
      for (String other : names.subList(0, i)) {
        assertThat(distance(one, colour(other, theme))).as("%s and %s", names.get(i), other).isGreaterThan(APART);
      }
    }
  }

  private static List<String> colours() {
    return words("COLOURS");
  }

  private static List<String> words(String list) {
    Matcher line = Pattern.compile("const " + list + " = \\[(.*)];").matcher(ChartLibrary.resource("page.js"));
    assertThat(line.find()).isTrue();
    return Arrays.stream(line.group(1).split(", ")).map(word -> word.replace("'", "")).toList();
  }

  /// Red, green and blue of a variable of the style sheet.
  private static int[] colour(String name, int theme) {
    Matcher pair = Pattern.compile("--" + name + ": light-dark\\(#(\\w{6}), #(\\w{6})\\);")
        .matcher(ChartLibrary.resource("page.css"));
    assertThat(pair.find()).as(name).isTrue();
    int rgb = Integer.parseInt(pair.group(1 + theme), 16);
    return new int[] {rgb >> 16, rgb >> 8 & 255, rgb & 255};
  }

  private static double[] linear(int... rgb) {
    return Arrays.stream(rgb).mapToDouble(value -> {
      double part = value / 255.0;
      return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
    }).toArray();
  }

  /// Contrast as WCAG 2 counts it.
  private static double contrast(int[] one, int[] other) {
    double first = luminance(one);
    double second = luminance(other);
    return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
  }

  private static double luminance(int... rgb) {
    double[] l = linear(rgb);
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
  }

  private static double distance(int[] one, int[] other) {
    double[] a = oklab(one);
    double[] b = oklab(other);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return Math.sqrt(sum);
  }

  /// A colour in OKLab (2020).
  private static double[] oklab(int... rgb) {
    double[] c = linear(rgb);
    List<Double> lms = new ArrayList<>();
    for (double[] row : new double[][] {{0.4122214708, 0.5363325363, 0.0514459929},
      {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}) {
      lms.add(Math.cbrt(row[0] * c[0] + row[1] * c[1] + row[2] * c[2]));
    }
    double l = lms.get(0);
    double m = lms.get(1);
    double s = lms.get(2);
    return new double[] {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
  }
}
