"""Questions made of what people say: containers, attachments, topics, tools, marks; and raw Unicode beside them."""

from __future__ import annotations

from hypothesis import strategies as st

CONTAINERS = ["知识库", "库", "笔记", "文章", "这个知识库", "本库", "我们的资料库", "文档"]
ATTACHED = ["里", "里面", "中", "上", "讲", "写过", "有没有", "有", "关于", "收录了", "的", "和", "相关的"]
ASKING = [
    "怎么",
    "怎么办",
    "是什么",
    "有哪些",
    "请问",
    "帮我找一下",
    "吗",
    "呢",
    "为什么",
    "？",
    "，",
    " ",
    "多少",
]
TOPICS = [
    "角色一致性",
    "整理方法",
    "里程碑管理",
    "上海探店",
    "不粘锅",
    "提示词结构",
    "读书笔记",
    "多肉植物",
    "茶",
    "和弦",
]
TOOLS = ["Midjourney", "Suno", "C++", "GPT-4o", "v8.1", "Node.js", "K歌", "A/B", "小红书", "ｎ８ｎ", "3D"]
ODD = [
    "\u200b",
    "¾",
    "㎝",
    "ｻｰﾊﾞｰ",
    "👨‍🚀",
    "\ud800",
    "\x00",
    "遞迴",
    "《十万个为什么》",
    "“怎么办”",
    "𠮷野家",
    "İ",
    "ß",
    "﷽",
]

# Topics that stripping leaves alone, whatever container stands around them.
CLEAN_TOPICS = [
    "角色一致性",
    "整理方法",
    "里程碑管理",
    "不粘锅",
    "提示词结构",
    "图生视频",
    "Midjourney",
    "和弦",
    "吧台高度",
]

fragments = st.sampled_from([*CONTAINERS, *ATTACHED, *ASKING, *TOPICS, *TOOLS, *ODD])
anything = st.text(st.characters(), max_size=30)
questions = st.lists(st.one_of(fragments, fragments, fragments, anything), max_size=12).map("".join)
tools = st.sampled_from([t for t in TOOLS if t not in ("小红书", "K歌", "ｎ８ｎ")])
