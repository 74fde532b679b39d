#!/usr/bin/env python3
"""Mixed text of a given size, the same bytes each time: many scripts, emoji, code, numbers, runs of spaces, NUL, and in a
part of it bytes that are no UTF-8.

    python3 mixed_text.py BYTES SEED > FILE
"""
import sys

# Article 1 of the Universal Declaration of Human Rights, or its beginning.
SCRIPTS = [
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act "
    "towards one another in a spirit of brotherhood.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt.",
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos, ¿verdad? ¡Sí!",
    "Tüm insanlar özgür, onur ve haklar bakımından eşit doğarlar. İSTANBUL ılık IŞIK",
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Всі люди народжуються вільними і рівними у своїй гідності та правах.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ΟΔΥΣΣΕΥΣ",
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا ؀١٢٣",
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. שָׁלוֹם",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। १२३",
    "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள்",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "人人生而自由,在尊嚴和權利上一律平等。",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。ﾊﾝｶｸ ガギグ ｶﾞ",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 한글",
    "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով:",
    "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
    "ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ", "ကမ္ဘာ့ကုလသမဂ္ဂ", "ខ្ញុំ​ស្រឡាញ់", "𝕳𝖊𝖑𝖑𝖔 𝐖𝐨𝐫𝐥𝐝 𓀀𓁐 𐌀𐌁 𠀀𠮷",
]
OTHERS = [
    "😀😃🤖👍🏽👩‍👩‍👧‍👦🇩🇪🇫🇷❤️🏳️‍🌈✨1️⃣", "\n", "\n\n", "\r\n", "\t\t", " ", "  ", "    ", "            ", "\u00a0", "\u3000", "\u200b\u200d", "\x00", "a\x00b",
    "\u0085\u2028\u2029", "\u1680\u180e", "é", "ﬁﬂ ½ ² ℌ ① Ⅷ ㎏ Å", "İıſKẞß", "\ufeff", "\ufffd", "naïve café", "don't I'LL we'Ve it's 'S 'ſ",
    "def f(x):\n    return {'a': x ** 2, \"b\": [1, 2.5e-3]}  # comment\n", "for (int i = 0; i < n; ++i) { sum += a[i] & 0xFF; }\n",
    "<html><body class=\"x\">&nbsp;</body></html>", "SELECT * FROM t WHERE id = 42;", "https://example.org/a?b=c&d=%20#e", "user@example.com",
    "3.14159 1234567890 -17 1e10 12:34:56 2024-02-29 $9.99 ١٢٣ ௧௨ ⅔", "...!!!???---___***///\\\\\\|||", "“quotes” ‘single’ «guillemets» – — …",
    "<|endoftext|>", "<|im_start|>user", "</s>", "<s> hi", "[MASK]", " [MASK] x", "<extra_id_0>", "▁▁ ▁a", "##ing", "Ġ", "<0x0A>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Supercalifragilisticexpialidocious antidisestablishmentarianism Donaudampfschifffahrtsgesellschaftskapitän", "\u0301x", "x\u0301\u0323\u0300",
]
INVALID = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x28\xa1", b"\xf4\x90\x80\x80"]


class Random:
    """Knuth's generator of MMIX."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % end

    def choice(self, items):
        return items[self.below(len(items))]


def some_words(random):
    words = random.choice(SCRIPTS).split(" ")
    begin = random.below(len(words))
    return " ".join(words[begin:begin + 1 + random.below(12)])


def any_characters(random):
    """Returns characters of planes 0 and 1, up to what Unicode 8 had there in blocks that are nearly full."""
    blocks = [(0x21, 0x7E), (0xA1, 0x24F), (0x370, 0x3FF), (0x400, 0x52F), (0x5D0, 0x5EA), (0x620, 0x6D3), (0x904, 0x939), (0xE01, 0xE3A),
              (0x1E00, 0x1EFF), (0x2010, 0x2027), (0x2190, 0x21FF), (0x2500, 0x257F), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FCC),
              (0xAC00, 0xD7A3), (0xFF01, 0xFF5E), (0x1F300, 0x1F5FF), (0x1F600, 0x1F64F), (0x20000, 0x2A6D6)]
    return "".join(chr(low + random.below(high - low + 1)) for low, high in (random.choice(blocks) for _ in range(1 + random.below(6))))


def mixed_text(size, seed, invalid=True):
    random = Random(seed)
    text = bytearray()
    while len(text) < size:
        kind = random.below(20)
        if invalid and kind == 0:
            text += random.choice(INVALID)
        elif kind < 5:
            text += random.choice(OTHERS).encode()
        elif kind == 5:
            text += any_characters(random).encode()
        else:
            text += some_words(random).encode()
        if random.below(8):
            text += b" "
        if random.below(12) == 0:
            text += b"\n"
    return bytes(text[:size])


if __name__ == "__main__":
    sys.stdout.buffer.write(mixed_text(int(sys.argv[1]), int(sys.argv[2])))
